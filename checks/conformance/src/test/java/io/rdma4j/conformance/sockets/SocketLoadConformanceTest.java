package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** RDMA sockets under load: much data, many connections, many threads. */
@Timeout(240)
class SocketLoadConformanceTest {
    private static final int SHORT_CONNECTIONS = TestDevices.load(10_000);
    private static final int BURST = TestDevices.load(500);
    private static final int BLOCKED_THREADS = TestDevices.load(2_000);
    private static final int REFUSED_PAUSE_MILLIS = 50;
    private static final long TRANSFER_BYTES = TestDevices.load(32 << 20);

    /** Returns a byte of an endless pattern, which reveals missing, duplicated and misplaced bytes. */
    private static byte patternAt(long place) {
        return (byte) (place * 31 + (place >>> 8) * 17 + (place >>> 16));
    }

    private static void writePattern(OutputStream out, long bytes, int step) throws IOException {
        byte[] buffer = new byte[step];
        for (long at = 0; at < bytes; at += step) {
            int length = (int) Math.min(step, bytes - at);
            for (int i = 0; i < length; i++) {
                buffer[i] = patternAt(at + i);
            }
            out.write(buffer, 0, length);
        }
    }

    private static long readPattern(InputStream in, int step) throws IOException {
        byte[] buffer = new byte[step];
        long at = 0;
        int count;
        while ((count = in.read(buffer)) >= 0) {
            for (int i = 0; i < count; i++) {
                if (buffer[i] != patternAt(at + i)) {
                    throw new IOException("Byte " + (at + i) + " is wrong");
                }
            }
            at += count;
        }
        return at;
    }

    @Test
    void muchDataIsTransferredInBothDirectionsAtOnce() throws Exception {
        try (SocketPair pair = SocketPair.open();
                ExecutorService threads = Executors.newThreadPerTaskExecutor(
                        Thread.ofPlatform().daemon().factory())) {
            List<Future<Long>> ends = new ArrayList<>();
            for (Socket side : List.of(pair.client, pair.server)) {
                ends.add(threads.submit(() -> {
                    writePattern(side.getOutputStream(), TRANSFER_BYTES, 100_003);
                    side.shutdownOutput();
                    return TRANSFER_BYTES;
                }));
                ends.add(threads.submit(() -> readPattern(side.getInputStream(), 70_001)));
            }
            for (Future<Long> end : ends) {
                assertThat(end.get(120, TimeUnit.SECONDS)).isEqualTo(TRANSFER_BYTES);
            }
        }
    }

    /** A writer can be ahead of its reader by the buffers of both sides, of up to twice the requested sizes. */
    @Test
    void writerWaitsForASlowReader() throws Exception {
        AtomicLong written = new AtomicLong();
        try (SocketPair pair = SocketPair.open()) {
            long most = 2L * (pair.client.getSendBufferSize() + pair.server.getReceiveBufferSize()) + 1000;
            Thread writer = Thread.ofPlatform().daemon().start(() -> {
                try {
                    OutputStream out = pair.client.getOutputStream();
                    byte[] step = new byte[500];
                    for (long at = 0; at < 4 * most; at += step.length) {
                        for (int i = 0; i < step.length; i++) {
                            step[i] = patternAt(at + i);
                        }
                        out.write(step);
                        written.addAndGet(step.length);
                    }
                    pair.client.shutdownOutput();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            long before = -1;
            while (written.get() != before) {
                before = written.get();
                Thread.sleep(300);
            }
            assertThat(before).isPositive().isLessThan(most);
            long read = readPattern(pair.server.getInputStream(), 999);
            writer.join();
            assertThat(read).isEqualTo(written.get()).isGreaterThanOrEqualTo(4 * most);
        }
    }

    @Test
    void tenThousandShortConnectionsLeakNoMemory() throws Exception {
        try (ServerSocket listener = SocketPair.listen(TestDevices.freshAddress(), 100);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<List<Future<Integer>>> server = threads.submit(() -> {
                List<Future<Integer>> echoes = new ArrayList<>();
                for (int i = 0; i < SHORT_CONNECTIONS; i++) {
                    Socket accepted = listener.accept();
                    echoes.add(threads.submit(() -> echo(accepted)));
                }
                return echoes;
            });
            Callable<Integer> client = () -> {
                int refused = 0;
                for (int i = 0; i < SHORT_CONNECTIONS / 2; i++) {
                    while (!isEchoed(listener, (byte) i)) {
                        refused++;
                        Thread.sleep(REFUSED_PAUSE_MILLIS);
                    }
                }
                return refused;
            };
            Future<Integer> first = threads.submit(client);
            Future<Integer> second = threads.submit(client);
            assertThat(first.get() + second.get()).isLessThanOrEqualTo(SHORT_CONNECTIONS / 50);
            for (Future<Integer> echo : server.get()) {
                assertThat(echo.get()).isEqualTo(1);
            }
        }
        assertThat(usedHeapBytes()).isLessThan(200L << 20);
    }

    /**
     * Sends a byte over a separate connection, and expects it back. Returns false if siw refuses the connection: its
     * few queues are free only some time after their sockets were closed, longer on a busy machine.
     */
    private static boolean isEchoed(ServerSocket listener, byte value) throws IOException {
        Socket connected;
        try {
            connected = SocketPair.connect(listener);
        } catch (SocketException refused) {
            if (TestDevices.driver() == Driver.SIW) {
                return false;
            }
            throw refused;
        }
        try (Socket socket = connected) {
            socket.getOutputStream().write(value);
            socket.shutdownOutput();
            assertThat(socket.getInputStream().readAllBytes()).containsExactly(value);
        }
        return true;
    }

    @Test
    @NotOn(
            value = {Driver.RXE, Driver.SIW},
            because = "is driven by the kernel's connection manager, which rejects requests beyond the backlog")
    void burstBeyondTheBacklogIsAcceptedOneAfterAnother() throws Exception {
        try (ServerSocket listener = SocketPair.listen(TestDevices.freshAddress(), 5);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> clients = new ArrayList<>();
            for (int i = 0; i < BURST; i++) {
                clients.add(threads.submit(() -> {
                    try (Socket socket = SocketPair.connect(listener)) {
                        return socket.getInputStream().read();
                    }
                }));
            }
            for (int i = 0; i < BURST; i++) {
                try (Socket accepted = listener.accept()) {
                    accepted.getOutputStream().write(4);
                }
            }
            for (Future<Integer> client : clients) {
                assertThat(client.get(60, TimeUnit.SECONDS)).isEqualTo(4);
            }
        }
    }

    private static int echo(Socket socket) throws IOException {
        try (socket) {
            return (int) socket.getInputStream().transferTo(socket.getOutputStream());
        }
    }

    private static long usedHeapBytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has about 140 queues for each open device")
    void thousandsOfBlockedVirtualThreadsReleaseTheirCarriers() throws Exception {
        List<Socket> clients = new ArrayList<>();
        List<Thread> readers = new ArrayList<>();
        AtomicLong sum = new AtomicLong();
        try (ServerSocket listener = RdmaSockets.openServerSocket(StandardProtocolFamily.INET)) {
            SocketPair.small(listener);
            listener.bind(new InetSocketAddress(TestDevices.freshAddress(), 0), 100);
            for (int i = 0; i < BLOCKED_THREADS; i++) {
                Socket client = RdmaSockets.openSocket(StandardProtocolFamily.INET);
                SocketPair.small(client);
                client.connect(listener.getLocalSocketAddress());
                clients.add(client);
                Socket server = listener.accept();
                readers.add(Thread.ofVirtual().start(() -> sum.addAndGet(readOne(server))));
            }
            BlockedThread.await(readers.toArray(Thread[]::new));
            // The carriers are free, so other threads run.
            CountDownLatch others = new CountDownLatch(1000);
            for (int i = 0; i < 1000; i++) {
                Thread.ofVirtual().start(others::countDown);
            }
            assertThat(others.await(10, TimeUnit.SECONDS)).isTrue();
            for (Socket client : clients) {
                client.getOutputStream().write(3);
            }
            for (Thread reader : readers) {
                assertThat(reader.join(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(sum.get()).isEqualTo(3L * BLOCKED_THREADS);
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    private static int readOne(Socket socket) {
        try (socket) {
            return socket.getInputStream().read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
