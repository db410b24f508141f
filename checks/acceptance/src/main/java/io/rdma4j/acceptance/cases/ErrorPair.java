package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.SignalListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Two connected queue pairs of one process, the first of which reports its completions at a channel. It writes 8 bytes. */
final class ErrorPair implements AutoCloseable {
    /** The way in which a thread of the program enters the engine until a WRITE is completed. */
    enum Entry {
        /** It posts further WRITEs, and polls only at the end. */
        POST,
        /** It posts one WRITE, and polls. */
        POLL,
        /** It posts one WRITE, and waits for the completion channel. */
        WAIT,
        /** It posts one WRITE, and does not enter the engine again: the engine's thread does the rest. */
        BACKGROUND
    }

    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int BYTES = 8;
    private static final int POSTS = 8;

    private final VerbsSide a = new VerbsSide(ADDRESS, 16, 0);
    private final VerbsSide b = new VerbsSide(ADDRESS, 16, 0);
    private final CompletionChannel channel = a.context().createCompletionChannel();
    private final CompletionQueue completions = a.context().createCompletionQueue(2 * POSTS, null, channel, 0);
    private final QueuePair from = a.domain()
            .createQueuePair(QueuePairInitAttributes.of(
                    QueuePairType.RELIABLE_CONNECTION, completions, new QueuePairCapabilities(POSTS, 1, 1, 1, 0)));
    private final QueuePair to = b.queuePair(1, 1);
    private final WorkCompletion[] polled = WorkCompletion.array(1);
    private final MemoryRegion source;
    private final MemoryRegion target;

    /** Connects a pair that writes from one memory to the other. */
    ErrorPair(MemorySegment source, MemorySegment target) {
        VerbsSide.connect(a, from, b, to);
        this.source = a.domain().register(source, VerbsSide.ALL);
        this.target = b.domain().register(target, VerbsSide.ALL);
    }

    /** Returns memory that has no fault. */
    static MemorySegment memory() {
        return Arena.ofAuto().allocate(BYTES, 8);
    }

    /** Writes by an entry, and returns the status of the first completion that is not successful, if there is one. */
    CompletionStatus write(Entry entry) throws InterruptedException {
        CountDownLatch completed = new CountDownLatch(1);
        SignalListener listener = completed::countDown;
        channel.signal().add(listener);
        try {
            return write(entry, completed);
        } finally {
            channel.signal().remove(listener);
        }
    }

    /**
     * Does the same while a listener of the completion channel fails; returns SUCCESS only if the listener was called.
     */
    CompletionStatus writeWithFailingListener(Entry entry, Supplier<Error> fault) throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        channel.signal().add(() -> {
            called.countDown();
            throw fault.get();
        });
        CompletionStatus status = write(entry);
        // The completion can be polled before the listener is called.
        return called.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS) ? status : CompletionStatus.GENERAL_ERROR;
    }

    private CompletionStatus write(Entry entry, CountDownLatch completed) throws InterruptedException {
        completions.requestNotification(false);
        int posts = entry == Entry.POST ? POSTS : 1;
        for (int i = 0; i < posts; i++) {
            from.postWrite(i, source, 0, BYTES, target.remote());
        }
        if (entry == Entry.WAIT && channel.await(LIMIT) == null) {
            throw new IllegalStateException("no event in " + LIMIT);
        }
        if (entry == Entry.BACKGROUND && !completed.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("the engine's thread has completed nothing in " + LIMIT);
        }
        CompletionStatus first = CompletionStatus.SUCCESS;
        for (int i = 0; i < posts; i++) {
            CompletionStatus status = poll();
            first = first == CompletionStatus.SUCCESS ? status : first;
        }
        if (entry == Entry.WAIT) {
            completions.acknowledgeEvents(1);
        } else if (channel.await(LIMIT) != null) {
            completions.acknowledgeEvents(1);
        }
        return first;
    }

    private CompletionStatus poll() {
        long begin = System.nanoTime();
        while (completions.poll(polled) == 0) {
            if (System.nanoTime() - begin > LIMIT.toNanos()) {
                throw new IllegalStateException("no completion in " + LIMIT);
            }
            Thread.onSpinWait();
        }
        return polled[0].status();
    }

    @Override
    public void close() {
        a.close();
        b.close();
    }
}
