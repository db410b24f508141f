package io.rdma4j.acceptance.relay;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import java.io.IOException;
import java.time.Duration;

/**
 * Two hosts connected by a relay process instead of a cable. The relay forwards IP packets unchanged, as the ICRC
 * covers their addresses, but drops, delays, reorders, duplicates and corrupts RoCE packets, reproducibly by a seed.
 * Used by the thread of the test; the stage stops the relay.
 */
public final class Relay {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final String FAR = "far";

    private final TwoHosts hosts;
    private final Child process;

    private Relay(TwoHosts hosts, Child process) {
        this.hosts = hosts;
        this.process = process;
    }

    /** Creates two hosts and connects them. The same seed and packets produce the same faults. */
    public static Relay between(TestStage stage, long seed) throws IOException, InterruptedException {
        TwoHosts hosts = stage.keep(TwoHosts.apart());
        Child process = Child.builder(stage, "relay", RelayProcess.class)
                .on(hosts.left())
                .with("left", TwoHosts.CABLE)
                .with("right", FAR)
                .with("seed", seed)
                .start();
        process.await("ready", STEP);
        hosts.left().run("ip", "link", "set", FAR, "netns", hosts.right().name());
        hosts.right().run("ip", "link", "set", FAR, "name", TwoHosts.CABLE);
        hosts.configure();
        return new Relay(hosts, process);
    }

    /** Returns the hosts. */
    public TwoHosts hosts() {
        return hosts;
    }

    /** Sets the disturbance of both directions. */
    public void disturb(Disturbance both) throws IOException, InterruptedException {
        disturb(both, both);
    }

    /** Sets the disturbances of packets arriving at the left host and at the right one. */
    public void disturb(Disturbance arrivingLeft, Disturbance arrivingRight) throws IOException, InterruptedException {
        process.ask("disturb left " + arrivingLeft.text(), "counts", STEP);
        process.ask("disturb right " + arrivingRight.text(), "counts", STEP);
    }

    /** Returns the number of packets of one kind in both directions, such as {@code corrupted} or {@code waiting}. */
    public long count(String kind) throws IOException, InterruptedException {
        JsonNode counts = process.ask("count", "counts", STEP);
        return counts.get("left").get(kind).asLong()
                + counts.get("right").get(kind).asLong();
    }
}
