package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Servers at any address, servers of several clients, and connections that are refused, by rping. */
final class ConnectionCases {
    private ConnectionCases() {}

    static void define(InteropCases cases) {
        for (Roles roles : Roles.JAVA_AND_C) {
            cases.add("wildcard/v4", roles, "3 pings", FULL, 30, anywhere(Family.V4));
            for (Family family : List.of(Family.V4, Family.V6)) {
                cases.add("option-a-any/" + family, roles, "3 pings", FULL, 30, anywhere(family, "-a", "::0"));
            }
            cases.add("source-address", roles, "3 pings", FULL, 30, fromSource(Family.V4));
            // 50 pings take long enough to meet the clients that connect later.
            int count = roles.server() == Side.HOST ? 5 : 50;
            String clients = "+1 clients x " + count;
            cases.add("persistent/v4", roles, "6" + clients, QUICK, 60, persistent(Family.V4, 6, count, Rping.SIZE));
            cases.add("persistent/v6-4096", roles, "4" + clients, FULL, 60, persistent(Family.V6, 4, count, 4096));
            cases.add("refused/v4", roles, "REJ 8, exit 255", QUICK, 30, refused(Family.V4));
            cases.add("refused/v6", roles, "REJ 8, exit 255", FULL, 30, refused(Family.V6));
            cases.add("jumbo-mtu/v4", roles, "4 pings of 65535", QUICK, 30, ConnectionCases::withLargePackets);
        }
        Roles atLinux = new Roles(Side.LINUX, Side.HOST);
        Roles atJava = new Roles(Side.HOST, Side.LINUX);
        String bound = "rejected/bound-elsewhere";
        cases.add("rejected/stopped-server", atLinux, "REJ 28, exit 255", QUICK, 30, ConnectionCases::stopped);
        // Linux replies with REJ 28, and a stack that looks listeners up by address with REJ 8.
        cases.add(bound, atLinux, "REJ 28, exit 255", QUICK, 30, stage -> boundElsewhere(stage, "28"));
        cases.add(bound, atJava, "REJ 8|28, exit 255", QUICK, 30, stage -> boundElsewhere(stage, "8|28"));
    }

    /** A server without -a, or with -a ::0, accepts clients of both address families. */
    private static InteropCases.Body anywhere(Family family, String... options) {
        return stage -> {
            List<String> words = new ArrayList<>(List.of("-s", "-p", Integer.toString(Rping.PORT), "-v"));
            words.addAll(List.of(options));
            RunningProcess server = stage.start("server", stage.server, "rping", words);
            stage.awaitListener(server, stage.server, Rping.PORT, "");
            Rping.requirePair(server, Rping.connect(stage, "client", family, "-C", "3"), Rping.SIZE, 3);
        };
    }

    /** The client names its own address. */
    private static InteropCases.Body fromSource(Family family) {
        return stage -> {
            RunningProcess server = Rping.serve(stage, family, "-v");
            String source = stage.address(stage.client, family);
            RunningProcess client = Rping.connect(stage, "client", family, "-I", source, "-C", "3");
            Rping.requirePair(server, client, Rping.SIZE, 3);
        };
    }

    /** A persistent server with concurrent clients, then another one. The server must keep running until SIGINT ends it. */
    static InteropCases.Body persistent(Family family, int clients, int count, int size) {
        return stage -> {
            String[] options = {"-S", Integer.toString(size), "-C", Integer.toString(count)};
            RunningProcess server = Rping.serve(stage, family, "-P", "-v", "-S", Integer.toString(size));
            List<RunningProcess> all = new ArrayList<>();
            for (int i = 1; i <= clients; i++) {
                RunningProcess client = Rping.connect(stage, "client" + i, family, options);
                all.add(client);
                if (stage.isC(stage.server)) {
                    awaitPing(stage, client);
                }
            }
            for (RunningProcess each : all) {
                each.requireEnd();
            }
            all.add(Rping.connect(stage, "client-last", family, options));
            for (RunningProcess each : all) {
                each.requireSuccess();
                Rping.requireClientPings(each, size, count);
                Rping.requireNoComplaint(each);
            }
            InteropStage.interrupt(server);
            server.requireLines((clients + 1) * count, "^server ping data: ");
        };
    }

    /**
     * rping of rdma-core 44 loses a request that arrives while it accepts another one, and fails when it uses the other one twice
     * (fixed in later versions). The clients of such a server therefore connect one after another, and then ping concurrently.
     */
    private static void awaitPing(InteropStage stage, RunningProcess client)
            throws CaseFailure, IOException, InterruptedException {
        stage.await(
                Duration.ofSeconds(20),
                () -> client.hasEnded() || client.prints("ping"),
                "the " + client.label() + " saw no ping");
    }

    /**
     * No process listens on the port. A user-space stack can reply only while one of its processes runs, so on the Java side a
     * server listens on the next port. On Linux the kernel replies.
     */
    static InteropCases.Body refused(Family family) {
        return stage -> {
            if (!stage.usesKernel(stage.server)) {
                serveBystander(stage, family);
            }
            requireRejected(Rping.connect(stage, "client", family, "-C", "3"), "8");
        };
    }

    private static void serveBystander(InteropStage stage, Family family)
            throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(stage.server, family);
        var _ = Rping.serve(stage, "bystander", stage.server, Rping.PORT + 1, "-a", address);
    }

    /** A process listens on the port, but at another address. */
    private static void boundElsewhere(InteropStage stage, String reasons)
            throws CaseFailure, IOException, InterruptedException {
        if (stage.server != Side.LINUX) {
            serveBystander(stage, Family.V4);
        }
        var _ = Rping.serve(stage, Family.V6);
        requireRejected(Rping.connect(stage, "client", Family.V4, "-C", "3"), reasons);
    }

    /** The server is stopped before it receives the request, and then killed. Its kernel rejects the request. */
    private static void stopped(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = Rping.serve(stage, Family.V4);
        server.signal("STOP");
        RunningProcess client = Rping.connect(stage, "client", Family.V4, "-C", "3");
        Thread.sleep(Duration.ofSeconds(3));
        InteropStage.requireRunning(client);
        server.signal("KILL");
        requireRejected(client, "28");
    }

    /** Requires that a client was rejected with a reason, which is a regular expression. */
    static void requireRejected(RunningProcess client, String reason) throws CaseFailure, InterruptedException {
        client.requireStatus(255).requireComplains("^cma event RDMA_CM_EVENT_REJECTED, error (" + reason + ")$");
        Stage.require(client.out().isEmpty(), "the rejected client printed a ping");
    }

    /** Both devices take their path MTU of 4096 from the interface. */
    private static void withLargePackets(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.world.mtu(5000);
        try {
            Rping.pings(Family.V4, 65535, 4).run(stage);
        } finally {
            stage.world.mtu(stage.setting.mtu());
        }
    }
}
