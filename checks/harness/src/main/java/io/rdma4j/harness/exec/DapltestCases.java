package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** dapltest, whose threads have small stacks, over the DAT provider of librdmacm. */
final class DapltestCases {
    private static final String PROVIDER =
            "rdma4j u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"eth0 0\" \"\"\n";

    private DapltestCases() {}

    static void define(ExecCases cases) {
        add(cases, "transactions", "-T T", "-t 2 -w 2 -i 200 client SR 256 server SR 256");
        add(cases, "RDMA", "-T T", "-t 1 -w 1 -i 200 client RW 4096 2 server RR 25600 client SR 256 server SR 256");
        add(cases, "performance", "-T P", "-i 1000 RW 65536");
        cases.add("dapltest/limits", Roles.C_WITH_C, FULL, 60, DapltestCases::createsManyObjects);
    }

    private static void add(ExecCases cases, String name, String kind, String options) {
        cases.add("dapltest/" + name, Roles.C_WITH_C, FULL, 60, stage -> run(stage, kind, options));
    }

    private static RunningProcess start(ExecStage stage, String label, Side side, String options) throws IOException {
        Files.writeString(stage.file("dat.conf"), PROVIDER);
        List<String> words = new ArrayList<>(List.of("env", "DAT_OVERRIDE=" + stage.file("dat.conf")));
        words.addAll(stage.execWords(List.of(), ExecStage.words("dapltest " + options)));
        return stage.start(label, side, words);
    }

    /** The server runs until a client tells it to quit. */
    private static void run(ExecStage stage, String kind, String options)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = start(stage, "server", Side.SERVER, "-T S -D rdma4j");
        stage.awaitListener();
        RunningProcess client = ExecStage.requireSuccess(
                start(stage, "client", Side.CLIENT, kind + " -s " + SERVER + " -D rdma4j " + options));
        Stage.require(
                !(client.out() + client.err()).matches("(?is).*(error|fail|mismatch).*"),
                "the client reports an error");
        start(stage, "end", Side.CLIENT, "-T Q -s " + SERVER + " -D rdma4j").awaitEnd();
        ExecStage.requireSuccess(server);
    }

    /** Creates up to 100 objects of each kind. */
    private static void createsManyObjects(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        ExecStage.requireSuccess(start(
                stage,
                "program",
                Side.SERVER,
                "-T L -D rdma4j -w 1 -m 100 limit_ia limit_pz limit_evd limit_ep limit_lmr"));
    }
}
