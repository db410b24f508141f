package io.rdma4j.acceptance.traffic;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Role;
import java.io.IOException;
import java.time.Duration;

/**
 * An {@link Answerer} on the right host and the parameters of its clients on the left host.
 *
 * @param answerer the passive side
 * @param port the port that it listens on
 * @param ackTimeout exponent of the local ACK timeout of both sides
 * @param sizes lengths of messages in bytes, separated by commas
 * @param keepAlive idle time after which a side probes its peer; zero disables probing
 */
public record AnsweredTraffic(Child answerer, int port, int ackTimeout, String sizes, Duration keepAlive) {
    /** Default exponent of the local ACK timeout of the connection manager. */
    public static final int DEFAULT_ACK_TIMEOUT = 19;

    private static final Duration STEP = Duration.ofSeconds(60);

    /** Starts the passive side. No side probes a silent peer. */
    public static AnsweredTraffic begin(TestStage stage, TwoHosts hosts, int ackTimeout, String sizes)
            throws IOException, InterruptedException {
        return begin(stage, hosts, ackTimeout, sizes, Duration.ZERO);
    }

    /** Starts the passive side. Both sides probe a peer that is silent for {@code keepAlive}. */
    public static AnsweredTraffic begin(
            TestStage stage, TwoHosts hosts, int ackTimeout, String sizes, Duration keepAlive)
            throws IOException, InterruptedException {
        Child answerer = Child.builder(stage, "answerer", Answerer.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .with("timeout", ackTimeout)
                .with("sizes", sizes)
                .with("keepAliveMillis", keepAlive.toMillis())
                .trackNativeMemory()
                .start();
        return new AnsweredTraffic(answerer, answerer.await("port", STEP).asInt(), ackTimeout, sizes, keepAlive);
    }

    /** Starts a {@link Mover} that is ready for commands. */
    public Child mover(TestStage stage, TwoHosts hosts) throws IOException, InterruptedException {
        return active(stage, hosts, "mover", Mover.class);
    }

    /** Starts a {@link PingPong}, which exchanges messages immediately. */
    public Child pingPong(TestStage stage, TwoHosts hosts, String name) throws IOException, InterruptedException {
        return active(stage, hosts, name, PingPong.class);
    }

    private Child active(TestStage stage, TwoHosts hosts, String name, Class<? extends Role> role)
            throws IOException, InterruptedException {
        Child child = Child.builder(stage, name, role)
                .on(hosts.left())
                .with("from", TwoHosts.LEFT)
                .with("to", TwoHosts.RIGHT)
                .with("port", port)
                .with("timeout", ackTimeout)
                .with("sizes", sizes)
                .with("keepAliveMillis", keepAlive.toMillis())
                .trackNativeMemory()
                .start();
        child.await("ready", STEP);
        return child;
    }

    /** Returns the state that a {@link PingPong} reports. */
    public static JsonNode state(Child pingPong) throws IOException, InterruptedException {
        return pingPong.ask("look", "state", STEP);
    }

    /**
     * Waits until a {@link PingPong} has completed {@code more} batches since {@code before}.
     *
     * @return its state at that time, or earlier if something failed or {@code limit} has elapsed
     */
    public static JsonNode awaitBatches(Child pingPong, JsonNode before, int more, Duration limit)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        JsonNode state = state(pingPong);
        while (state.get("batches").asLong() < before.get("batches").asLong() + more
                && state.get("wrong").asText().isEmpty()
                && System.nanoTime() < deadline) {
            Thread.sleep(10);
            state = state(pingPong);
        }
        return state;
    }
}
