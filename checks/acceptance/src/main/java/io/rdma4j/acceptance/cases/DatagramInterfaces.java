package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.DatagramEchoPeer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A datagram RDMA socket at the wildcard address uses two interfaces. One of them is deleted, created again and given
 * another MTU. The other is undisturbed, and the changed one carries datagrams again.
 */
public final class DatagramInterfaces implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(30);
    private static final String LOOPBACK = "127.0.0.2";
    private static final int SMALL_BYTES = 100;
    private static final int LARGE_BYTES = 2000;

    private final List<String> wrong = new ArrayList<>();

    @Override
    public String required(Scale scale) {
        return "MTU raised, interface deleted and created again, %d times: both interfaces carry datagrams of 100 and 2000 B"
                .formatted(scale.of(2, 20));
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child peer = Child.builder(stage, "peer", DatagramEchoPeer.class)
                .on(hosts.left())
                .start();
        peer.await("ready", STEP);
        replace(peer, LOOPBACK);
        replace(peer, TwoHosts.LEFT);
        int rounds = stage.scale().of(2, 20);
        for (int i = 0; i < rounds && wrong.isEmpty(); i++) {
            stage.progress("round " + (i + 1) + " of " + rounds);
            both(peer, "at first");
            hosts.mtu(9000);
            replace(peer, TwoHosts.LEFT);
            both(peer, "MTU 9000");
            hosts.removeCable();
            exchange(peer, LOOPBACK, "the other interface is deleted");
            hosts.newCable();
            replace(peer, TwoHosts.LEFT);
            both(peer, "created again");
        }
        return Outcome.of(
                wrong.isEmpty(),
                wrong.isEmpty() ? rounds + " times all datagrams were echoed" : String.join("; ", wrong));
    }

    private void replace(Child peer, String address) throws IOException, InterruptedException {
        String reason = peer.ask("replace " + address, "echoed", STEP).asText();
        if (!reason.isEmpty()) {
            wrong.add("new socket of " + address + ": " + reason);
        }
    }

    private void both(Child peer, String when) throws IOException, InterruptedException {
        exchange(peer, TwoHosts.LEFT, when);
        exchange(peer, LOOPBACK, when);
    }

    private void exchange(Child peer, String address, String when) throws IOException, InterruptedException {
        for (int bytes : new int[] {SMALL_BYTES, LARGE_BYTES}) {
            String reason = peer.ask(address + " " + bytes, "echoed", STEP).asText();
            if (!reason.isEmpty()) {
                wrong.add("%s, %d B to %s: %s".formatted(when, bytes, address, reason));
            }
        }
    }
}
