package io.rdma4j.faults.cases;

import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.traffic.DatagramTalker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A datagram RDMA socket at the wildcard address uses two interfaces. One of them is deleted, made again, and given another
 * MTU: the other one is not disturbed, and the changed one works again.
 */
public final class DatagramInterfaces implements AcceptanceTest {
    private static final Duration STEP = Duration.ofSeconds(30);
    private static final String LOOPBACK = "127.0.0.2";
    private static final int SMALL_BYTES = 100;
    private static final int LARGE_BYTES = 2000;

    private final List<String> wrong = new ArrayList<>();

    /** Creates the test. */
    public DatagramInterfaces() {}

    @Override
    public int number() {
        return 24;
    }

    @Override
    public String title() {
        return "datagram socket whose interfaces change";
    }

    @Override
    public String required(Scale scale) {
        return "MTU raised, interface deleted and made again, %d times: both interfaces carry datagrams of 100 and 2000 B"
                .formatted(scale.of(2, 20));
    }

    @Override
    public boolean needsRoot() {
        return true;
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child talker = Child.builder(stage, "talker", DatagramTalker.class)
                .on(hosts.left())
                .start();
        talker.await("ready", STEP);
        anew(talker, LOOPBACK);
        anew(talker, TwoHosts.LEFT);
        int rounds = stage.scale().of(2, 20);
        for (int i = 0; i < rounds && wrong.isEmpty(); i++) {
            stage.progress("round " + (i + 1) + " of " + rounds);
            both(talker, "at first");
            hosts.mtu(9000);
            anew(talker, TwoHosts.LEFT);
            both(talker, "MTU 9000");
            hosts.removeCable();
            exchange(talker, LOOPBACK, "the other interface is gone");
            hosts.newCable();
            anew(talker, TwoHosts.LEFT);
            both(talker, "made again");
        }
        return Outcome.of(
                wrong.isEmpty(), wrong.isEmpty() ? rounds + " times all came back" : String.join("; ", wrong));
    }

    private void anew(Child talker, String address) throws IOException, InterruptedException {
        String why = talker.ask("anew " + address, "echoed", STEP).asText();
        if (!why.isEmpty()) {
            wrong.add("new socket of " + address + ": " + why);
        }
    }

    private void both(Child talker, String when) throws IOException, InterruptedException {
        exchange(talker, TwoHosts.LEFT, when);
        exchange(talker, LOOPBACK, when);
    }

    private void exchange(Child talker, String address, String when) throws IOException, InterruptedException {
        for (int bytes : new int[] {SMALL_BYTES, LARGE_BYTES}) {
            String why = talker.ask(address + " " + bytes, "echoed", STEP).asText();
            if (!why.isEmpty()) {
                wrong.add("%s, %d B to %s: %s".formatted(when, bytes, address, why));
            }
        }
    }
}
