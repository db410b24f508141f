package io.rdma4j.faults.cases;

import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.traffic.Connecting;
import io.rdma4j.faults.traffic.StreamTalker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Listeners at the wildcard address, of the connection manager and of stream sockets, lose an interface that is then made again
 * under its name: new connections over it are served, those over the loopback interface all the time, and a stream that was
 * open is reset, as its peer did not end it.
 */
public final class ConnectionInterfaces implements AcceptanceTest {
    private static final Duration STEP = Duration.ofSeconds(60);
    private static final String LOOPBACK = "127.0.0.2";

    private final List<String> wrong = new ArrayList<>();

    /** Creates the test. */
    public ConnectionInterfaces() {}

    @Override
    public int number() {
        return 24;
    }

    @Override
    public String title() {
        return "listeners whose interfaces change";
    }

    @Override
    public String required(Scale scale) {
        return "interface deleted and made again, %d times: connections over it again, others undisturbed"
                .formatted(scale.of(2, 20));
    }

    @Override
    public boolean needsRoot() {
        return true;
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Connecting connecting = Connecting.beginAtAllAddresses(stage, hosts);
        Child talker = Child.builder(stage, "talker", StreamTalker.class)
                .on(hosts.left())
                .start();
        talker.await("ready", STEP);
        connecting.connect(1, 1, STEP);
        int rounds = stage.scale().of(2, 20);
        for (int i = 0; i < rounds && wrong.isEmpty(); i++) {
            stage.progress("round " + (i + 1) + " of " + rounds);
            expect(talker, "exchange " + LOOPBACK, "", "at first");
            expect(talker, "hold " + TwoHosts.LEFT, "", "at first");
            hosts.removeCable();
            expect(talker, "held", "Connection reset", "the interface of an open stream is gone");
            expect(talker, "exchange " + LOOPBACK, "", "the other interface is gone");
            hosts.newCable();
            expect(talker, "exchange " + TwoHosts.LEFT, "", "made again");
            try {
                connecting.connect(1, 1, STEP);
            } catch (IOException failed) {
                wrong.add("made again, from host to host: " + failed.getMessage());
            }
        }
        return Outcome.of(
                wrong.isEmpty(), wrong.isEmpty() ? rounds + " times all came back" : String.join("; ", wrong));
    }

    private void expect(Child talker, String what, String expected, String when)
            throws IOException, InterruptedException {
        String said = talker.ask(what, "exchanged", STEP).asText();
        if (expected.isEmpty() ? !said.isEmpty() : !said.startsWith(expected)) {
            wrong.add("%s, %s: \"%s\"".formatted(when, what, said));
        }
    }
}
