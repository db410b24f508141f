package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.util.List;

/** libfabric over libibverbs: all message sizes in both directions, with the data compared. */
final class FabricCases {
    private static final int PORT = 47592;
    private static final String ROW = "^(64|256|1k|4k|64k|1m) +100 +=100 ";
    private static final int ROWS = 6;

    private FabricCases() {}

    static void define(ExecCases cases) {
        cases.add(
                "libfabric/fi_info",
                FULL,
                30,
                stage -> ToolCases.prints(
                        stage, "type: FI_EP_MSG", "fi_info", "-p", "verbs", "-d", "rdma4j_eth0", "-t", "FI_EP_MSG"));
        add(cases, "MSG", "-p verbs -e msg");
        add(cases, "RxM", "-p verbs;ofi_rxm -e rdm");
        add(cases, "RxM-tagged", "-p verbs;ofi_rxm -e rdm -m tagged");
    }

    private static void add(ExecCases cases, String name, String options) {
        String command = "fi_pingpong " + options + " -c -I 100";
        Pair pair = Pair.of(Pair.tcp(PORT), command, command + " " + SERVER).checked(FabricCases::requireFigures);
        cases.addPair("libfabric/" + name, Roles.C_WITH_C, FULL, 60, pair);
    }

    private static void requireFigures(ExecStage stage, RunningProcess server, RunningProcess client)
            throws CaseFailure {
        client.requireLines(ROWS, ROW);
        server.requireLines(ROWS, ROW);
        List<String[]> rows = client.out()
                .lines()
                .map(line -> line.strip().split(" +", -1))
                .filter(columns -> columns.length > 6)
                .toList();
        for (String[] columns : rows) {
            switch (columns[0]) {
                case "1k" -> stage.stage.remark("1 KiB: " + columns[6] + " us");
                case "1m" -> stage.stage.remark("1 MiB: " + columns[5] + " MB/s");
                default -> {}
            }
        }
    }
}
