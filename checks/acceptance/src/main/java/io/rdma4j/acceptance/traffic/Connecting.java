package io.rdma4j.acceptance.traffic;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import java.io.IOException;
import java.time.Duration;

/**
 * A {@link PassiveTarget} on the right host and a {@link Connector} on the left one.
 *
 * @param target the passive side
 * @param connector the active side
 */
public record Connecting(Child target, Child connector) {
    private static final Duration START = Duration.ofSeconds(60);
    private static final int BACKLOG = 256;

    /**
     * Starts both.
     *
     * @param eitherCloses {@code true} if either side, chosen at random, closes first; only on a path without loss
     */
    public static Connecting begin(TestStage stage, TwoHosts hosts, boolean eitherCloses)
            throws IOException, InterruptedException {
        return begin(stage, hosts, TwoHosts.RIGHT, eitherCloses);
    }

    /** Starts both, with a target that listens on the wildcard address. */
    public static Connecting beginAtAllAddresses(TestStage stage, TwoHosts hosts)
            throws IOException, InterruptedException {
        return begin(stage, hosts, "0.0.0.0", false);
    }

    private static Connecting begin(TestStage stage, TwoHosts hosts, String listening, boolean eitherCloses)
            throws IOException, InterruptedException {
        Child target = Child.builder(stage, "target", PassiveTarget.class)
                .on(hosts.right())
                .with("address", listening)
                .with("bytes", 4096)
                .with("backlog", BACKLOG)
                .trackNativeMemory()
                .start();
        Child connector = Child.builder(stage, "connector", Connector.class)
                .on(hosts.left())
                .with("from", TwoHosts.LEFT)
                .with("to", TwoHosts.RIGHT)
                .with("port", target.await("port", START).asInt())
                .with("eitherCloses", eitherCloses ? 1 : 0)
                .trackNativeMemory()
                .start();
        connector.await("ready", START);
        return new Connecting(target, connector);
    }

    /** Returns the number of connections that have not yet ended for the target. */
    public int openConnections() throws IOException, InterruptedException {
        return target.ask("count", "count", START).get(1).asInt();
    }

    /**
     * Waits up to {@code limit} until all connections have ended for the target.
     *
     * @return the number of connections that have not ended
     */
    public int awaitEnds(Duration limit) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        int openConnections = openConnections();
        while (openConnections > 0 && System.nanoTime() - deadline < 0) {
            Thread.sleep(100);
            openConnections = openConnections();
        }
        return openConnections;
    }

    /**
     * Connects, writes once and disconnects, {@code count} times by so many threads.
     *
     * @return the report of the connector
     * @throws IOException if a connection fails, or not all have ended within {@code limit}
     */
    public JsonNode connect(int count, int threads, Duration limit) throws IOException, InterruptedException {
        JsonNode done = connector.ask("connect " + count + " " + threads, "done", limit);
        if (!done.get("wrong").isEmpty()) {
            throw new IOException("%d of %d failed: %s"
                    .formatted(
                            done.get("wrong").size(),
                            count,
                            done.get("wrong").get(0).asText()));
        }
        return done;
    }
}
