package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Captures by {@code rdma4j exec --pcap}, read by tshark. */
final class CaptureCases {
    private static final List<String> CONNECTION =
            List.of("CM: ConnectRequest", "CM: ConnectReply", "CM: ReadyToUse", "CM: DisconnectRequest");

    private CaptureCases() {}

    static void define(ExecCases cases) {
        String place = "-F -d rdma4j_eth0 -n 100";
        add(
                cases,
                "pcap/rping",
                QUICK,
                Pair.of(Pair.CM, "rping -s -a " + SERVER + " -C 5 -V", "rping -c -a " + SERVER + " -C 5 -V"),
                List.of("RC Send Only", "RC RDMA Read Request", "RC RDMA Write Only"));
        add(
                cases,
                "pcap/ib_send_bw-R",
                QUICK,
                Pair.of(Pair.CM, "ib_send_bw " + place + " -R", "ib_send_bw " + place + " -R " + SERVER),
                List.of("RC Send First", "RC Send Last", "RC Acknowledge"));
        String write = "ib_write_bw " + place + " -x " + ExecStage.GID_INDEX;
        add(
                cases,
                "pcap/ib_write_bw",
                FULL,
                Pair.of(Pair.tcp(PerftestCases.PORT), write, write + " " + SERVER),
                List.of("RC RDMA Write First", "RC Acknowledge"));
        cases.add("pcap/two-processes", Roles.C_WITH_C, QUICK, 40, CaptureCases::eachProcessHasItsCapture);
        cases.add("pcap/one-file-for-two", Roles.C_WITH_C, QUICK, 40, CaptureCases::secondProcessIsRefused);
    }

    private static void add(ExecCases cases, String name, boolean isQuick, Pair pair, List<String> opcodes) {
        List<String> expected = new ArrayList<>(opcodes);
        if (pair.ready().equals(Pair.CM)) {
            expected.addAll(CONNECTION);
        }
        cases.add(name, Roles.C_WITH_C, isQuick, 40, stage -> {
            if (!capture(stage, pair)) {
                // A client of perftest with -R connects twice, on a busy machine sometimes before the server listens
                // again.
                Stage.require(capture(stage, pair), "the client was rejected twice");
            }
            requireDissected(stage, stage.file("server.pcapng"), expected);
            requireDissected(stage, stage.file("client.pcapng"), expected);
        });
    }

    /** Runs a pair with a capture on each side, and returns false if the client was rejected. */
    private static boolean capture(ExecStage stage, Pair pair) throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = start(stage, Side.SERVER, pair.server());
        Pair.awaitReady(stage, pair.ready());
        RunningProcess client = start(stage, Side.CLIENT, pair.client());
        if (client.awaitEnd() != 0 && client.complains("RDMA_CM_EVENT_REJECTED")) {
            server.end("KILL");
            return false;
        }
        ExecStage.requireSuccess(client);
        ExecStage.requireSuccess(server);
        return true;
    }

    private static RunningProcess start(ExecStage stage, Side side, String command) throws IOException {
        List<String> options =
                List.of("--no-warm-up", "--pcap", stage.file(side + ".pcapng").toString());
        return stage.execWith(options, side.toString(), side, ExecStage.words(command));
    }

    /** The file's name has %p, the process ID: the children of one command have a capture each. */
    private static void eachProcessHasItsCapture(ExecStage stage)
            throws CaseFailure, IOException, InterruptedException {
        String both = "rping -s -a \"$1\" -C 5 -V & sleep 2; rping -c -a \"$1\" -C 5 -V && wait $!";
        ExecStage.requireSuccess(stage.execWith(
                List.of("--pcap", stage.file("ping-%p.pcapng").toString()),
                "program",
                Side.SERVER,
                List.of("sh", "-c", both, "sh", SERVER)));
        List<Path> captures;
        try (Stream<Path> files = Files.list(stage.file(""))) {
            captures = files.filter(file -> file.getFileName().toString().matches("ping-.*\\.pcapng"))
                    .toList();
        }
        Stage.require(captures.size() == 2, "there are " + captures.size() + " captures");
        for (Path capture : captures) {
            requireDissected(stage, capture, List.of("CM: ConnectRequest", "CM: ReadyToUse"));
        }
    }

    /** Without %p, the second process fails with one sentence, and the capture of the first stays intact. */
    private static void secondProcessIsRefused(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        List<String> options = List.of("--pcap", stage.file("ping.pcapng").toString());
        RunningProcess server =
                stage.execWith(options, "server", Side.SERVER, ExecStage.words("rping -s -a " + SERVER + " -C 5 -V"));
        stage.awaitListener();
        List<String> client = ExecStage.words("rping -c -a " + SERVER + " -C 5 -V");
        RunningProcess second = stage.execWith(options, "program", Side.CLIENT, client);
        Stage.require(second.awaitEnd() != 0, "the second process ended with 0");
        Stage.require(
                second.complains("^rdma4j exec: .*another capture is being written to it"),
                "it does not report the reason");
        stage.execWith(List.of(), "client", Side.CLIENT, client).awaitEnd();
        server.requireSuccess();
        requireDissected(stage, stage.file("ping.pcapng"), List.of("CM: ConnectRequest", "CM: ReadyToUse"));
    }

    /** Requires that tshark recognizes each packet as well-formed RoCEv2, and finds each of the opcodes. */
    private static void requireDissected(ExecStage stage, Path capture, List<String> opcodes)
            throws CaseFailure, InterruptedException {
        String name = capture.getFileName().toString();
        String packets = tshark(name, capture);
        Stage.require(!packets.isEmpty(), name + " has no packets");
        String wrong = tshark(name, capture, "-Y", "_ws.malformed || _ws.expert.severity == error || !infiniband");
        Stage.require(wrong.isEmpty(), "tshark finds malformed packets in " + name);
        for (String opcode : opcodes) {
            Stage.require(packets.contains(opcode), "tshark names no '" + opcode + "' in " + name);
        }
        stage.stage.remark(name + ": " + packets.lines().count() + " packets");
    }

    /** With -R, perftest starts and ends with an empty SEND. tshark takes that for RPC over RDMA, and calls it malformed. */
    private static String tshark(String name, Path capture, String... options)
            throws CaseFailure, InterruptedException {
        List<String> words = new ArrayList<>(List.of(
                "sh",
                "-c",
                "exec tshark \"$@\" 2>/dev/null",
                "sh",
                "--disable-protocol",
                "rpcordma",
                "-r",
                capture.toString()));
        words.addAll(List.of(options));
        try {
            return Command.run(words);
        } catch (IOException failed) {
            throw new CaseFailure("tshark cannot read " + name + ": " + failed.getMessage());
        }
    }
}
