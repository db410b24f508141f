package io.rdma4j.conformance.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Many connections in one process leave nothing behind.
 *
 * <p>{@code -Drdma4j.storm.connections=10000} is the soak test: the connections are opened, used and closed a thousand
 * at a time, or as many of them as the device bears ({@link TestDevices#load}).
 */
class ConnectionStormTest {
    /** A connection has six queues, and siw about 140 for each open device. */
    private static final int AT_ONCE = TestDevices.driver() == Driver.SIW ? 10 : TestDevices.load(1000);

    private static final int CONNECTIONS = Integer.getInteger("rdma4j.storm.connections", AT_ONCE);

    /** The growth that these connections may cause: less than a tenth of a connection's own size each. */
    private static final long LEFTOVER_BYTES = 1 << 20;

    /** The descriptors for other processes of this host: tests run beside this one. Fewer than one for each connection. */
    private static final int NEIGHBOR_DESCRIPTORS = 8;

    /** Short, so that connections in time-wait are removed soon. */
    private static final int ACK_TIMEOUT = 8;

    /** A minute of time-wait. */
    private static final int LONG_ACK_TIMEOUT = 24;

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private record Figures(long heapBytes, int threads, long descriptors) {
        static Figures now() throws IOException {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            long descriptors = -1;
            Path open = Path.of("/proc/self/fd");
            if (Files.isDirectory(open)) {
                try (Stream<Path> all = Files.list(open)) {
                    descriptors = all.count();
                }
            }
            return new Figures(
                    runtime.totalMemory() - runtime.freeMemory(),
                    Thread.getAllStackTraces().size(),
                    descriptors);
        }

        boolean isWithin(Figures before) {
            return heapBytes <= before.heapBytes + LEFTOVER_BYTES
                    && threads <= before.threads
                    && descriptors <= before.descriptors + NEIGHBOR_DESCRIPTORS;
        }
    }

    private record Connection(CmId client, CmId server) {}

    @Test
    void closedConnectionsLeaveNothing() throws Exception {
        InetAddress address = TestDevices.address();
        try (EventChannel servers = EventChannel.open();
                EventChannel clients = EventChannel.open();
                CmId listener = Session.listener(servers, address)) {
            InetSocketAddress destination = new InetSocketAddress(address, listener.sourcePort());
            storm(servers, clients, destination, AT_ONCE); // loads classes and grows tables to their size
            Figures before = settled(null);
            long started = System.nanoTime();
            for (int done = 0; done < CONNECTIONS; done += AT_ONCE) {
                storm(servers, clients, destination, Math.min(AT_ONCE, CONNECTIONS - done));
            }
            long millis = (System.nanoTime() - started) / 1_000_000;
            Figures after = settled(before);
            System.out.printf("%d connections in %d ms; before %s, after %s%n", CONNECTIONS, millis, before, after);
            assertThat(after.isWithin(before)).as("%s after %s", after, before).isTrue();
        }
    }

    @Test
    void closedIdentifiersReleaseTheirContextsBeforeTheEndOfTheTimeWait() throws Exception {
        InetAddress address = TestDevices.address();
        try (EventChannel servers = EventChannel.open();
                EventChannel clients = EventChannel.open();
                CmId listener = Session.listener(servers, address)) {
            List<WeakReference<Object>> contexts =
                    closedContexts(servers, clients, new InetSocketAddress(address, listener.sourcePort()));
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (contexts.stream().anyMatch(context -> context.get() != null) && System.nanoTime() < end) {
                System.gc();
                Thread.sleep(10);
            }
            assertThat(contexts).allMatch(context -> context.get() == null);
        }
    }

    private static List<WeakReference<Object>> closedContexts(
            EventChannel servers, EventChannel clients, InetSocketAddress destination) {
        Connection connection = open(servers, clients, destination, LONG_ACK_TIMEOUT);
        Object ofClient = new Object();
        Object ofServer = new Object();
        connection.client().setContext(ofClient);
        connection.server().setContext(ofServer);
        Session.disconnect(clients, connection.client(), servers, connection.server());
        close(connection.client());
        close(connection.server());
        return List.of(new WeakReference<>(ofClient), new WeakReference<>(ofServer));
    }

    /** Opens connections, uses each, and closes all. */
    private static void storm(EventChannel servers, EventChannel clients, InetSocketAddress destination, int count) {
        List<Connection> open = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            open.add(open(servers, clients, destination, ACK_TIMEOUT));
        }
        for (Connection connection : open) {
            Session.transfer(connection.client(), connection.server(), "hello");
        }
        for (Connection connection : open) {
            Session.disconnect(clients, connection.client(), servers, connection.server());
            close(connection.client());
            close(connection.server());
        }
    }

    private static Connection open(
            EventChannel servers, EventChannel clients, InetSocketAddress destination, int ackTimeout) {
        CmId client = clients.createId(PortSpace.TCP);
        client.setAckTimeout(ackTimeout);
        client.resolveAddress(destination, PATIENCE);
        Session.expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        Session.expect(clients, CmEvent.Type.ROUTE_RESOLVED);
        client.createQueuePair(QueuePairInitAttributes.of(Session.SIZES));
        return new Connection(client, Session.connect(clients, client, servers));
    }

    private static void close(CmId id) {
        id.destroyQueuePair();
        id.close();
    }

    /** Returns the figures when they no longer fall, or do not exceed those before. */
    private static Figures settled(@Nullable Figures before) throws IOException, InterruptedException {
        Figures last = Figures.now();
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < end) {
            Thread.sleep(200);
            Figures next = Figures.now();
            if (before == null ? next.heapBytes() >= last.heapBytes() : next.isWithin(before)) {
                return next;
            }
            last = next;
        }
        return last;
    }
}
