package io.rdma4j.bench.peers;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.rdma4j.bench.worker.Control;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * One end of Aeron, with its media driver in the application's thread. Not thread safe.
 *
 * <p>This mode suits a machine with two processors. {@link #invoke} runs the driver and the client. Through shared memory, both ends
 * use the driver of the passive one.
 */
final class AeronEnd implements AutoCloseable {
    private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int TO_SERVER = 1001;
    private static final int TO_CLIENT = 1002;

    private final @Nullable MediaDriver driver;
    private final Aeron aeron;
    private final AgentInvoker clientInvoker;

    private AeronEnd(Path folder, @Nullable MediaDriver driver) {
        this.driver = driver;
        aeron = Aeron.connect(new Aeron.Context()
                .aeronDirectoryName(folder.toString())
                .driverAgentInvoker(driver == null ? null : driver.sharedAgentInvoker())
                .useConductorAgentInvoker(true));
        clientInvoker = aeron.conductorAgentInvoker();
    }

    /** Creates an end with a separate driver. */
    static AeronEnd withDriver() {
        Path folder = folder();
        return new AeronEnd(folder, launch(folder));
    }

    /** Creates an end that shares the driver of the passive end. */
    static AeronEnd sharingDriver(Control control, boolean isServer) throws IOException {
        if (!isServer) {
            return new AeronEnd(Path.of(control.receiveText()), null);
        }
        AeronEnd end = withDriver();
        control.sendText(folder().toString());
        return end;
    }

    private static Path folder() {
        return Path.of(
                System.getProperty("java.io.tmpdir"),
                "aeron-bench-" + ProcessHandle.current().pid());
    }

    private static MediaDriver launch(Path folder) {
        return MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(folder.toString())
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.INVOKER)
                .sharedIdleStrategy(NoOpIdleStrategy.INSTANCE)
                .termBufferSparseFile(false)
                .ipcTermBufferLength(16 << 20)
                .publicationTermBufferLength(16 << 20));
    }

    /** Subscribes to the messages for this end in a channel. */
    Subscription subscribe(String channel, boolean isServer) {
        return aeron.addSubscription(channel, isServer ? TO_SERVER : TO_CLIENT);
    }

    /** Publishes messages for the other end in a channel. */
    ExclusivePublication publish(String channel, boolean isServer) {
        return aeron.addExclusivePublication(channel, isServer ? TO_CLIENT : TO_SERVER);
    }

    /** Invokes the driver, if it belongs to this end, and the client once. */
    void invoke() {
        if (driver != null) {
            driver.sharedAgentInvoker().invoke();
        }
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
        if (driver != null) {
            driver.close();
        }
    }
}
