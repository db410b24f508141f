package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A peer writes at full speed, and at a random moment its access is revoked: the region is deregistered, or the window
 * is invalidated. The owner then uses the memory for other data.
 *
 * <p>Each WRITE contains its number. A round passes if the memory keeps the owner's data, the writer ends with a remote
 * access error, and every acknowledged WRITE was in the memory at the moment of the revocation.
 */
public final class MemoryRevocation implements AcceptanceTest.Body {
    private static final int BYTES = 4096;
    private static final int SENDS = 16;
    private static final int MAX_MESSAGE_BYTES = 3000;
    private static final int MAX_WRITING_NANOS = 400_000;
    private static final int CHECK_NANOS = 30_000;
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(20);
    private static final byte OWNER_CONTENT = (byte) 0xa7;
    private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final Set<AccessFlag> WRITE = Set.of(AccessFlag.REMOTE_WRITE);

    @Override
    public String required(Scale scale) {
        return "under WRITEs, 0 changes after the revocation in " + rounds(scale) + " rounds";
    }

    private static int rounds(Scale scale) {
        return scale.of(300, 10_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        int rounds = rounds(stage.scale());
        String wrong = run(rounds, seed);
        return Outcome.of(wrong == null, wrong == null ? "0 changes in " + rounds + " rounds" : wrong);
    }

    /** Runs the rounds. Returns the first error, or null. */
    static @Nullable String run(int rounds, long seed) throws Exception {
        Random random = new Random(seed);
        InetAddress address = InetAddress.getLoopbackAddress();
        try (VerbsSide writer = new VerbsSide(address, 4 * SENDS, 0);
                VerbsSide owner = new VerbsSide(address, 4 * SENDS, 1);
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            for (int i = 0; i < rounds; i++) {
                String wrong = new Round(writer, owner, random).run(executor);
                if (wrong != null) {
                    return "round %d of -Drdma4j.seed=%d: %s".formatted(i, seed, wrong);
                }
            }
        }
        return null;
    }

    /** One connection from its first WRITE to its error. */
    private static final class Round {
        private final VerbsSide writer;
        private final VerbsSide owner;
        private final QueuePair writing;
        private final QueuePair written;
        private final int length;
        private final boolean usesWindow;
        private final long writingNanos;
        private volatile long lastAcknowledged;

        Round(VerbsSide writer, VerbsSide owner, Random random) {
            this.writer = writer;
            this.owner = owner;
            writing = writer.queuePair(SENDS, 1);
            written = owner.queuePair(SENDS, 1);
            VerbsSide.connect(writer, writing, owner, written);
            length = random.nextInt(Long.BYTES, MAX_MESSAGE_BYTES);
            usesWindow = random.nextBoolean();
            writingNanos = random.nextInt(MAX_WRITING_NANOS);
        }

        @Nullable
        String run(ExecutorService executor) throws Exception {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment memory = arena.allocate(BYTES, 8);
                MemoryRegion region = owner.domain().register(memory, VerbsSide.ALL);
                MemoryWindow window = usesWindow ? owner.domain().allocateMemoryWindow(MemoryWindow.Type.TYPE_2) : null;
                int key = window == null ? region.remoteKey() : bind(window, region);
                Future<CompletionStatus> end = executor.submit(writeUntilRefused(region.address(), key));
                LockSupport.parkNanos(writingNanos);
                revoke(region, window, key);
                String wrong = check(memory, end);
                writing.close();
                written.close();
                if (window != null) {
                    window.close();
                    region.close();
                }
                return wrong;
            }
        }

        private int bind(MemoryWindow window, MemoryRegion region) {
            int key = window.nextRemoteKey();
            written.postSend(new SendWorkRequest()
                    .reset(1)
                    .bind(window, key)
                    .boundTo(region, 0, BYTES, WRITE)
                    .signaled());
            require(owner.await(WAIT_LIMIT));
            return key;
        }

        private void revoke(MemoryRegion region, @Nullable MemoryWindow window, int key) {
            if (window == null) {
                region.close();
            } else {
                written.postSend(
                        new SendWorkRequest().reset(2).localInvalidate(key).signaled());
                require(owner.await(WAIT_LIMIT));
            }
        }

        private static void require(WorkCompletion completion) {
            if (!completion.isSuccess()) {
                throw new IllegalStateException("the owner's own work request ended with " + completion.status());
            }
        }

        /** Checks that the memory does not change after the revocation. */
        private @Nullable String check(MemorySegment memory, Future<CompletionStatus> end) throws Exception {
            long last = memory.get(NUMBER, 0);
            memory.fill(OWNER_CONTENT);
            LockSupport.parkNanos(CHECK_NANOS);
            CompletionStatus status = end.get(WAIT_LIMIT.toSeconds(), TimeUnit.SECONDS);
            for (long i = 0; i < BYTES; i++) {
                if (memory.get(ValueLayout.JAVA_BYTE, i) != OWNER_CONTENT) {
                    return "byte " + i + " changed after the revocation";
                }
            }
            if (status != CompletionStatus.REMOTE_ACCESS_ERROR) {
                return "the writer ended with " + status;
            }
            return lastAcknowledged > last
                    ? "WRITE " + lastAcknowledged + " was acknowledged, but " + last + " was the last in memory"
                    : null;
        }

        /** Keeps several WRITEs outstanding, each from a separate slot that contains its number. */
        private Callable<CompletionStatus> writeUntilRefused(long address, int key) {
            return () -> {
                try (Arena arena = Arena.ofShared();
                        MemoryRegion source = writer.domain()
                                .register(arena.allocate((long) SENDS * BYTES), AccessFlag.LOCAL_WRITE)) {
                    CompletionStatus refusal = null;
                    long posted = 0;
                    long completed = 0;
                    while (refusal == null || completed < posted) {
                        while (refusal == null && posted - completed < SENDS) {
                            posted++;
                            long at = posted % SENDS * BYTES;
                            source.memory().set(NUMBER, at, posted);
                            writing.postWrite(posted, source, at, length, new RemoteMemory(address, key, length));
                        }
                        WorkCompletion done = writer.await(WAIT_LIMIT);
                        completed++;
                        if (done.isSuccess()) {
                            lastAcknowledged = done.id();
                        } else if (refusal == null) {
                            refusal = done.status();
                        }
                    }
                    return refusal;
                }
            };
        }
    }
}
