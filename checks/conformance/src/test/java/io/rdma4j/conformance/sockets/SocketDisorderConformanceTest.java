package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.TestDevices;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pairs of RDMA sockets that either side closes, resets or interrupts at any time. */
@Timeout(120)
class SocketDisorderConformanceTest {
    private static final int PAIRS = TestDevices.load(300);
    private static final int MAX_BYTES = 300_000;

    /** The actions of one side, drawn from a seed. */
    private record Plan(int bytes, int readsUpTo, boolean resets, boolean interrupted) {
        static Plan of(Random random) {
            return new Plan(
                    random.nextInt(MAX_BYTES),
                    random.nextInt(3) == 0 ? random.nextInt(MAX_BYTES) : Integer.MAX_VALUE,
                    random.nextInt(6) == 0,
                    random.nextInt(8) == 0);
        }
    }

    private final ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();

    private static byte patternAt(long place) {
        return (byte) (place * 31 + (place >>> 8));
    }

    @Test
    void everyThreadEndsAndAllReadDataAreCorrect() throws Exception {
        Random random = new Random(41);
        try (ServerSocket listener = SocketPair.listen(TestDevices.freshAddress(), 50)) {
            for (int i = 0; i < PAIRS; i++) {
                Socket client = SocketPair.connect(listener);
                start(client, Plan.of(random));
                start(listener.accept(), Plan.of(random));
            }
            for (Thread thread : threads) {
                assertThat(thread.join(Duration.ofSeconds(60)))
                        .as(thread + " of seed 41 ends")
                        .isTrue();
            }
        }
        assertThat(wrong).isEmpty();
    }

    private void start(Socket socket, Plan plan) throws SocketException {
        socket.setSoLinger(plan.resets, 0);
        Thread writer = Thread.ofVirtual().start(() -> expectSocketExceptions(() -> write(socket, plan)));
        Thread reader = Thread.ofVirtual().start(() -> {
            expectSocketExceptions(() -> read(socket, plan));
            if (plan.readsUpTo < Integer.MAX_VALUE) {
                close(socket);
            }
            awaitEnd(writer);
            close(socket);
        });
        if (plan.interrupted) {
            writer.interrupt();
        }
        threads.add(writer);
        threads.add(reader);
    }

    private interface Part {
        void run() throws IOException;
    }

    private void expectSocketExceptions(Part part) {
        try {
            part.run();
        } catch (SocketException asItMayBe) {
            return;
        } catch (IOException | RuntimeException other) {
            wrong.add(other);
        }
    }

    private static void write(Socket socket, Plan plan) throws IOException {
        byte[] step = new byte[7001];
        for (int at = 0; at < plan.bytes; at += step.length) {
            int length = Math.min(step.length, plan.bytes - at);
            for (int i = 0; i < length; i++) {
                step[i] = patternAt(at + i);
            }
            socket.getOutputStream().write(step, 0, length);
        }
        socket.shutdownOutput();
    }

    private static void read(Socket socket, Plan plan) throws IOException {
        InputStream in = socket.getInputStream();
        byte[] buffer = new byte[5000];
        int at = 0;
        int count;
        while (at < plan.readsUpTo && (count = in.read(buffer)) >= 0) {
            for (int i = 0; i < count; i++) {
                if (buffer[i] != patternAt(at + i)) {
                    throw new IllegalStateException("Byte " + (at + i) + " is wrong");
                }
            }
            at += count;
        }
    }

    private static void awaitEnd(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
