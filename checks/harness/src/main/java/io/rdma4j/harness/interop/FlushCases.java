package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * FLUSH and ATOMIC WRITE: {@code checks/interop/c/flush.c} against {@code checks/interop/java/Flush.java}, and the latter against itself.
 * {@code checks/interop/setup --newer} compiles the program in C, which needs Linux 6.2 and rdma-core 45.
 */
final class FlushCases {
    private static final List<String> SERVER_LINES =
            List.of("listening", "connected", "value 0x0102030405060708", "same", "end");

    private static final List<String> CLIENT_LINES = List.of(
            "connected",
            "write 0 opcode 1 bytes 3000",
            "flush-range 0 opcode 8 bytes 3000",
            "atomic-write 0 opcode 9 bytes 8",
            "flush-region 0 opcode 8 bytes 0",
            "read 0 opcode 2 bytes 3008",
            "same");

    /** IBV_WC_REM_ACCESS_ERR. */
    private static final String DENIED_LINE = "flush-persistent 10";

    private FlushCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 30);
        if (!cases.setting.isDebian13()) {
            rows.cannot("flush", "Linux 6.1 has no FLUSH: --kernel 6.12");
            return;
        }
        rows.add("flush/v4", "flushed", QUICK, exchange(Family.V4, false));
        rows.add("flush/v6", "flushed", exchange(Family.V6, false));
        rows.add("flush/denied", "flushed, denied", QUICK, exchange(Family.V4, true));
    }

    static void defineOnHosts(InteropCases cases) {
        cases.add("host/flush/lo4", Roles.NEAR, "flushed", FULL, 30, exchange(Family.LO4, false));
        cases.add("host/flush/far-v6", Roles.FAR_SERVER, "flushed", FULL, 30, exchange(Family.V6, false));
        cases.add("host/flush/denied", Roles.FAR_SERVER, "flushed, denied", QUICK, 30, exchange(Family.V4, true));
    }

    /** Both sides have to end with 0 and print exactly the right lines. The last FLUSH may be denied. */
    private static InteropCases.Body exchange(Family family, boolean isDenied) {
        return stage -> {
            String port = Integer.toString(Rping.PORT);
            RunningProcess server =
                    start(stage, "server", stage.server, "serve", stage.address(stage.server, family), port);
            stage.awaitLine(server, "listening");
            List<String> arguments = new ArrayList<>(List.of("connect", stage.serverAddress(family), port));
            List<String> lines = new ArrayList<>(CLIENT_LINES);
            if (isDenied) {
                arguments.add("denied");
                lines.add(DENIED_LINE);
            }
            lines.add("end");
            RunningProcess client = start(stage, "client", stage.client, arguments.toArray(String[]::new));
            new Pair(server, client).requireLines(SERVER_LINES, lines);
        };
    }

    private static RunningProcess start(InteropStage stage, String label, Side side, String... arguments)
            throws CaseFailure, IOException, InterruptedException {
        if (stage.isC(side)) {
            List<String> words = new ArrayList<>(List.of("rdma4j-flush"));
            words.addAll(List.of(arguments));
            return stage.startCommand(label, side, words);
        }
        return stage.startProgram(label, side, "Flush", arguments);
    }
}
