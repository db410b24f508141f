package io.rdma4j.bench.peers;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.rdma4j.bench.worker.Parameters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.NoOpIdleStrategy;

/**
 * One end of Aeron with its media driver in the application's thread. Not thread safe.
 *
 * <p>This mode suits a machine with two processors. {@link #invoke} runs the driver and the client.
 */
final class AeronEnd implements AutoCloseable {
    private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int STREAM = 1001;

    private final MediaDriver driver;
    private final Aeron aeron;
    private final AgentInvoker driverInvoker;
    private final AgentInvoker clientInvoker;
    private final int mtu;

    AeronEnd(Parameters parameters) {
        mtu = parameters.number("mtu", 1408);
        String folder = Path.of(
                        System.getProperty("java.io.tmpdir"),
                        "aeron-bench-" + ProcessHandle.current().pid())
                .toString();
        driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(folder)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.INVOKER)
                .sharedIdleStrategy(NoOpIdleStrategy.INSTANCE)
                .termBufferSparseFile(false)
                .publicationTermBufferLength(16 << 20));
        driverInvoker = driver.sharedAgentInvoker();
        aeron = Aeron.connect(new Aeron.Context()
                .aeronDirectoryName(folder)
                .driverAgentInvoker(driverInvoker)
                .useConductorAgentInvoker(true));
        clientInvoker = aeron.conductorAgentInvoker();
    }

    private String channel(String host, int port) {
        return "aeron:udp?endpoint=" + host + ":" + port + "|mtu=" + mtu;
    }

    /** Subscribes to the messages that are published to a port of this end. */
    Subscription subscribe(String host, int port) {
        return aeron.addSubscription(channel(host, port), STREAM);
    }

    ExclusivePublication publish(String host, int port) {
        return aeron.addExclusivePublication(channel(host, port), STREAM);
    }

    /** Invokes the driver and the client once. */
    void invoke() {
        driverInvoker.invoke();
        clientInvoker.invoke();
    }

    /** Invokes the driver and the client until both directions are connected. */
    void awaitConnected(Subscription subscription, ExclusivePublication publication) throws IOException {
        long deadline = System.nanoTime() + CONNECT_NANOS;
        while (!subscription.isConnected() || !publication.isConnected()) {
            invoke();
            if (System.nanoTime() > deadline) {
                throw new IOException("Aeron does not connect");
            }
        }
    }

    @Override
    public void close() {
        aeron.close();
        driver.close();
    }
}
