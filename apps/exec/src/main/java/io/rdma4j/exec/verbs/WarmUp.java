package io.rdma4j.exec.verbs;

import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.PrivateDevices;
import io.rdma4j.verbs.spi.VerbsProvider;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Lets Java compile the code that moves data while a program is still setting up. When the program opens a device, a
 * separate thread starts to run operations between two private devices. A queue pair waits for the end of the warm-up
 * before it becomes ready to receive. Thread safe.
 */
final class WarmUp {
    /** The system property with the duration of the warm-up in milliseconds; without it, there is no warm-up. */
    private static final String PROPERTY = "rdma4j.exec.warmUpMillis";

    private static final System.Logger LOGGER = System.getLogger(WarmUp.class.getName());

    private static final long MILLIS = Long.getLong(PROPERTY, 0);

    /** The length of a round. Each round has new devices, so that Java also compiles how connections start and end. */
    private static final long ROUND_NANOS = 300_000_000;

    private static final int OPERATIONS = 16;
    private static final int SMALL_BYTES = 8;
    private static final int LARGE_BYTES = 65_536;

    private static final AtomicBoolean BEGUN = new AtomicBoolean();
    private static final CountDownLatch OVER = new CountDownLatch(1);

    private WarmUp() {}

    /** Starts the warm-up if it is enabled and has not started yet. */
    static void begin() {
        if (MILLIS > 0 && BEGUN.compareAndSet(false, true)) {
            Thread.ofPlatform().name("rdma4j-warm-up").daemon().start(() -> {
                try {
                    run(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MILLIS));
                } finally {
                    OVER.countDown();
                }
            });
        }
    }

    /** Waits for the end of the warm-up if it has started. Waits at most twice its duration. */
    static void awaitEnd() {
        if (MILLIS > 0 && BEGUN.get()) {
            try {
                boolean _ = OVER.await(2 * MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Runs rounds. A failure is only logged as a debug message: the program works, but is slower at first.
     *
     * @param endNanos the time when the last round ends
     */
    private static void run(long endNanos) {
        try {
            do {
                Optional<PrivateDevices> devices = privateDevices();
                if (devices.isEmpty()) {
                    return;
                }
                try (PrivateDevices pair = devices.get()) {
                    runRound(pair, Math.min(endNanos, System.nanoTime() + ROUND_NANOS));
                }
            } while (System.nanoTime() < endNanos);
        } catch (RdmaException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the warm-up has failed", e);
        }
    }

    private static Optional<PrivateDevices> privateDevices() {
        return ServiceLoader.load(VerbsProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .flatMap(provider -> provider.privateDevices().stream())
                .findFirst();
    }

    /** Runs operations between two devices, at least once, and closes all objects that it has created. */
    static void runRound(PrivateDevices devices, long endNanos) {
        try (WarmUpEnd near = new WarmUpEnd(devices.first());
                WarmUpEnd far = new WarmUpEnd(devices.second())) {
            near.connect(far);
            far.connect(near);
            do {
                exchange(near, far);
                exchange(far, near);
            } while (System.nanoTime() < endNanos);
        }
    }

    private static void exchange(WarmUpEnd from, WarmUpEnd to) {
        for (int i = 0; i < OPERATIONS; i++) {
            send(from, to, SMALL_BYTES, 1);
            request(from, to, SendOpcode.RDMA_WRITE, SMALL_BYTES, 1);
            request(from, to, SendOpcode.RDMA_READ, SMALL_BYTES, 1);
        }
        send(from, to, LARGE_BYTES, OPERATIONS);
        request(from, to, SendOpcode.RDMA_WRITE, LARGE_BYTES, OPERATIONS);
        request(from, to, SendOpcode.RDMA_READ, LARGE_BYTES, OPERATIONS);
    }

    private static void send(WarmUpEnd from, WarmUpEnd to, int bytes, int count) {
        for (int i = 0; i < count; i++) {
            to.postReceive();
            from.post(SendOpcode.SEND, bytes);
        }
        await(from, count, to, count);
    }

    private static void request(WarmUpEnd from, WarmUpEnd to, SendOpcode opcode, int bytes, int count) {
        for (int i = 0; i < count; i++) {
            from.post(opcode, bytes);
        }
        await(from, count, to, 0);
    }

    /** Polls both ends, because each makes progress only when it is polled. */
    private static void await(WarmUpEnd one, int ofOne, WarmUpEnd other, int ofOther) {
        int missing = ofOne;
        int missingAtOther = ofOther;
        while (missing > 0 || missingAtOther > 0) {
            missing -= one.poll(Math.max(1, missing));
            missingAtOther -= other.poll(Math.max(1, missingAtOther));
        }
    }
}
