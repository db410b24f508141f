package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;

/** Pings while packets are damaged, or until one side is killed. */
final class FaultCases {
    private FaultCases() {}

    static void define(InteropCases cases) {
        Roles atJava = new Roles(Side.HOST, Side.LINUX);
        Roles atLinux = new Roles(Side.LINUX, Side.HOST);
        cases.add("killed/client-KILL", atJava, "server ends", QUICK, 30, killed(End.CLIENT, "KILL"));
        cases.add("killed/server-KILL", atLinux, "client ends", QUICK, 30, killed(End.SERVER, "KILL"));
        cases.add("killed/client-INT", atLinux, "server ends", FULL, 30, killed(End.CLIENT, "INT"));
        cases.add("killed/server-INT", atJava, "client ends", FULL, 30, killed(End.SERVER, "INT"));
        Fault reordering = Fault.netem("delay 3ms reorder 25% 50% duplicate 5%");
        for (Roles roles : Roles.JAVA_AND_C) {
            // rxe 6.1 needs 2.2 s for most single lost packets; the counts are chosen for that.
            cases.add(
                    "loss/1%-netem/v4",
                    roles, "30 pings", FULL, 100, damaged(Family.V4, 64, 30, Fault.netem("loss 1%")));
            cases.add(
                    "loss/5%-netem/v4",
                    roles, "10 pings", QUICK, 100, damaged(Family.V4, 64, 10, Fault.netem("loss 5%")));
            cases.add("loss/5%-nft/v6", roles, "6 pings", FULL, 100, damaged(Family.V6, 64, 6, Fault.loss(50)));
            cases.add(
                    "loss/1%-nft/v4-16384", roles, "3 pings", FULL, 100, damaged(Family.V4, 16384, 3, Fault.loss(10)));
            cases.add("reorder-dup/v4", roles, "20 pings", QUICK, 100, damaged(Family.V4, 4096, 20, reordering));
        }
    }

    /** Pings while packets are lost, delayed, reordered or duplicated in both directions. */
    private static InteropCases.Body damaged(Family family, int size, int count, Fault fault) {
        return stage -> {
            String bytes = Integer.toString(size);
            RunningProcess server = Rping.serve(stage, family, "-S", bytes, "-v");
            stage.under(fault, damaged -> {
                RunningProcess client =
                        Rping.connect(damaged, "client", family, "-S", bytes, "-C", Integer.toString(count));
                client.requireSuccess();
                requireEndOfServer(damaged, server);
                Rping.requireClientPings(client, size, count);
                Rping.requireServerPings(server, size, count);
            });
        };
    }

    /**
     * If a client exits right after its DREQ was lost, no process repeats the DREQ and the server waits indefinitely. If the
     * acknowledgement of the last SEND was lost, the DREQ overtakes the completion and the server ends with 255. With C on both sides
     * it is the same.
     */
    private static void requireEndOfServer(InteropStage stage, RunningProcess server)
            throws CaseFailure, IOException, InterruptedException {
        if (server.endsWithin(Duration.ofSeconds(8))) {
            stage.requireStatusOr(server, 0, 255);
        } else {
            stage.stage.remark("the server was ended by SIGINT (DREQ lost)");
            InteropStage.interrupt(server);
        }
    }

    /**
     * One side is killed while it pings. Its kernel (or, on SIGINT, the Java tool) disconnects, and the other side exits: with 0,
     * or with 255 if the event overtakes a completion.
     */
    static InteropCases.Body killed(End victim, String signal) {
        return stage -> {
            RunningProcess server = Rping.serve(stage, Family.V4, "-v");
            RunningProcess client = Rping.connect(stage, "client", Family.V4);
            RunningProcess killed = victim == End.SERVER ? server : client;
            RunningProcess survivor = victim == End.SERVER ? client : server;
            stage.await(
                    Duration.ofSeconds(10),
                    () -> Rping.count(survivor) > 20,
                    "the " + survivor.label() + " printed no 20 pings");
            Thread.sleep(Duration.ofSeconds(1));
            killed.signal(signal);
            InteropStage.requireEnd(survivor, 15);
            stage.requireStatusOr(survivor, 0, 255);
            survivor.requireComplains("^" + survivor.label() + " DISCONNECT EVENT\\.\\.\\.$");
            Stage.require(Rping.count(survivor) > 0, "the " + survivor.label() + " printed no ping");
        };
    }
}
