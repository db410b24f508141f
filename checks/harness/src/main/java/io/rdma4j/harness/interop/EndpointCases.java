package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.util.List;

/** rdma_client and rdma_server with one message each way, and rdma_xclient and rdma_xserver with one message. */
final class EndpointCases {
    private EndpointCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 40);
        for (Family family : List.of(V4, V6, LL)) {
            rows.add(
                    "rdma_client/" + family, "1 message each way", family == V4 ? QUICK : FULL, exchange(family, 7471));
        }
        rows.add("rdma_client/-p", "1 message each way", exchange(V4, 7999));
        rows.add("rdma_client/any", "1 message each way", exchangeAnywhere("", V4, 7471, ""));
        rows.add("rdma_client/refused", "refused, exit 255", refusal("rdma_client", V4));
        rows.add("rdma_xclient/v4", "1 message over RC", QUICK, exchangeAnywhere("x", V4, 7471, ""));
        rows.add("rdma_xclient/-c-r", "1 message over RC", exchangeAnywhere("x", V4, 7999, "-c r"));
        rows.add("rdma_xclient/refused", "refused, exit 255", refusal("rdma_xclient", V4));
        rows.cannot("rdma_xclient/-c-x", "rxe has no XRC");
    }

    static void defineOnHosts(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 30);
        for (Family family : List.of(LO4, V4)) {
            near.add("host/rdma_xclient/" + family, "1 message over XRC", exchangeAnywhere("x", family, 7471, "-c x"));
        }
        Rows far = new Rows(cases, Roles.FAR_SERVER, 30);
        far.add("host/rdma_xclient/far-v4", "1 message over XRC", QUICK, exchangeAnywhere("x", V4, 7471, "-c x"));
    }

    /** The server listens at one address. */
    static InteropCases.Body exchange(Family family, int port) {
        return stage -> run(stage, "", family, port, stage.address(stage.server, family), "");
    }

    /** The server listens at every address. With {@code x} the tools are rdma_xserver and rdma_xclient. */
    static InteropCases.Body exchangeAnywhere(String x, Family family, int port, String options) {
        return stage -> run(stage, x, family, port, "", options);
    }

    private static void run(InteropStage stage, String x, Family family, int port, String bound, String options)
            throws CaseFailure, IOException, InterruptedException {
        String common = " -p " + port + " " + options;
        Pair pair = Pair.start(
                stage,
                "rdma_" + x + "server" + (bound.isEmpty() ? "" : " -s " + bound) + common,
                Pair.at(stage, port, bound),
                "rdma_" + x + "client -s " + stage.serverAddress(family) + common);
        pair.requireLines(lines("rdma_" + x + "server", 0), lines("rdma_" + x + "client", 0));
    }

    private static List<String> lines(String tool, int result) {
        return List.of(tool + ": start", tool + ": end " + result);
    }

    /** No process listens on the port. A user-space stack can reply only while one of its processes runs. */
    static InteropCases.Body refusal(String tool, Family family) {
        return stage -> {
            if (!stage.usesKernel(stage.server)) {
                Rping.serve(stage, "bystander", stage.server, 7001, "-a", stage.address(stage.server, family));
            }
            String command = tool + " -s " + stage.serverAddress(family) + " -p 7000";
            RunningProcess client = Pair.start(stage, "client", stage.client, command);
            client.requireStatus(255);
            InteropStage.requireOut(client, lines(tool, -1));
            client.requireComplains("^rdma_connect: Connection refused$");
        };
    }
}
