package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.Connecting;
import io.rdma4j.acceptance.traffic.StreamEchoPeer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Listeners at the wildcard address lose an interface that is then created again with the same name. They belong to the
 * connection manager and to stream sockets. New connections over the interface are accepted again, and connections over
 * the loopback interface at any time. An open stream over the interface is reset, since its peer has not ended it.
 */
public final class ConnectionInterfaces implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(60);
    private static final String LOOPBACK = "127.0.0.2";

    private final List<String> wrong = new ArrayList<>();

    @Override
    public String required(Scale scale) {
        return "interface deleted and created again, %d times: connections over it are accepted again, others undisturbed"
                .formatted(scale.of(2, 20));
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Connecting connecting = Connecting.beginAtAllAddresses(stage, hosts);
        Child peer = Child.builder(stage, "peer", StreamEchoPeer.class)
                .on(hosts.left())
                .start();
        peer.await("ready", STEP);
        connecting.connect(1, 1, STEP);
        int rounds = stage.scale().of(2, 20);
        for (int i = 0; i < rounds && wrong.isEmpty(); i++) {
            stage.progress("round " + (i + 1) + " of " + rounds);
            expect(peer, "exchange " + LOOPBACK, "", "at first");
            expect(peer, "hold " + TwoHosts.LEFT, "", "at first");
            hosts.removeCable();
            expect(peer, "held", "Connection reset", "the interface of an open stream is deleted");
            expect(peer, "exchange " + LOOPBACK, "", "the other interface is deleted");
            hosts.newCable();
            expect(peer, "exchange " + TwoHosts.LEFT, "", "created again");
            try {
                connecting.connect(1, 1, STEP);
            } catch (IOException failed) {
                wrong.add("created again, from host to host: " + failed.getMessage());
            }
        }
        return Outcome.of(
                wrong.isEmpty(),
                wrong.isEmpty() ? rounds + " times all connections were accepted" : String.join("; ", wrong));
    }

    private void expect(Child peer, String command, String expected, String when)
            throws IOException, InterruptedException {
        String response = peer.ask(command, "exchanged", STEP).asText();
        if (expected.isEmpty() ? !response.isEmpty() : !response.startsWith(expected)) {
            wrong.add("%s, %s: \"%s\"".formatted(when, command, response));
        }
    }
}
