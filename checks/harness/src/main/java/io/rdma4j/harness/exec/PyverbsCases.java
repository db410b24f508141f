package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The tests of pyverbs, rdma-core's Python binding, as the distribution installs them. Both ends of a test are in one process; tests
 * of the connection manager use two processes on one host.
 */
final class PyverbsCases {
    private static final String SOME = "^test_(mr|cq_events|atomic|pd|rdmacm)\\.(?!.*(reject|external|ex_|udp))";

    private PyverbsCases() {}

    static void define(ExecCases cases) {
        cases.add("pyverbs/some", QUICK, 60, stage -> run(stage, "some", List.of(), List.of("--only", SOME)));
        cases.add("pyverbs/all", FULL, 300, stage -> run(stage, "all", List.of(), List.of()));
        cases.add(
                "pyverbs/all-with-loss",
                FULL,
                600,
                stage -> run(
                        stage,
                        "all-with-loss",
                        List.of("--fault", "loss=1%,seed=7"),
                        List.of(
                                "--without",
                                stage.source("lib/pyverbs-without-with-loss.tsv")
                                        .toString())));
    }

    /** Runs the tests, and keeps a file with the name of each, its outcome and the reason, to compare it with other devices. */
    private static void run(ExecStage stage, String name, List<String> execOptions, List<String> options)
            throws CaseFailure, IOException, InterruptedException {
        Path results = stage.file("results.tsv");
        List<String> words = new ArrayList<>(List.of(
                "/usr/bin/python3",
                stage.source("lib/pyverbs.py").toString(),
                "--output",
                results.toString(),
                "--known",
                stage.source("lib/pyverbs-known.tsv").toString()));
        words.addAll(ExecStage.words(
                "--device rdma4j_eth0 --gid " + ExecStage.GID_INDEX + " --address " + SERVER + " --fork-first"));
        words.addAll(options);
        RunningProcess program = stage.execWith(execOptions, "program", Side.SERVER, words);
        program.awaitEnd();
        if (Files.exists(results)) {
            Path kept = Files.createDirectories(stage.source("target/pyverbs"));
            Files.copy(results, kept.resolve(name + ".tsv"), StandardCopyOption.REPLACE_EXISTING);
        }
        stage.stage.remark(program.out().lines().reduce("", (earlier, line) -> line));
        ExecStage.requireSuccess(program);
    }
}
