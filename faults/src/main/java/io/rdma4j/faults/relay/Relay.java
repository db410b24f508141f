package io.rdma4j.faults.relay;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import java.io.IOException;
import java.time.Duration;

/**
 * Two hosts joined by a relay in place of a cable: a process that forwards IP packets as they are, since the ICRC covers
 * their addresses, but loses, delays, reorders, repeats and spoils those of RoCE, from a seed. Used by the thread of the
 * test; the stage ends it.
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

    /** Makes two hosts and joins them. The same seed and packets give the same faults. */
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

    /** The hosts. */
    public TwoHosts hosts() {
        return hosts;
    }

    /** Changes what happens from now on, alike in both directions. */
    public void disturb(Disturbance both) throws IOException, InterruptedException {
        disturb(both, both);
    }

    /** Changes what happens from now on to what arrives at the left host, and at the right one. */
    public void disturb(Disturbance arrivingLeft, Disturbance arrivingRight) throws IOException, InterruptedException {
        process.ask("disturb left " + arrivingLeft.text(), "counts", STEP);
        process.ask("disturb right " + arrivingRight.text(), "counts", STEP);
    }

    /** How many packets something was done to so far, in both directions: {@code corrupted}, {@code waiting}. */
    public long count(String what) throws IOException, InterruptedException {
        JsonNode counts = process.ask("count", "counts", STEP);
        return counts.get("left").get(what).asLong()
                + counts.get("right").get(what).asLong();
    }
}
