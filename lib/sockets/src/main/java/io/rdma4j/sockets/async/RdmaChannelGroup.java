package io.rdma4j.sockets.async;

import io.rdma4j.sockets.io.SystemTime;
import io.rdma4j.verbs.spi.SharedThread;
import java.io.IOException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A group of asynchronous channels. One thread waits at a selector for all of them and drives the device, and a pool of
 * threads calls the completion handlers. Thread safe.
 */
public final class RdmaChannelGroup extends AsynchronousChannelGroup {
    /** The maximum number of nested handlers on one stack, for operations that complete immediately. */
    private static final int MAX_DIRECT_CALLS = 16;

    /** The time after which a call that the pool has refused is passed to it again. */
    private static final long RETRY_MILLIS = 10;

    /** The nested handlers that the current thread of a pool runs. */
    private static final class Calls {
        @Nullable
        RdmaChannelGroup group;

        int depth;
    }

    /**
     * The call of a handler. It is allocated in advance, so that a result reaches the program even if the heap is full.
     */
    final class Call implements Runnable {
        private final Runnable handler;

        /** The next call that the pool has not taken; guarded by the group. */
        private @Nullable Call next;

        Call(Runnable handler) {
            this.handler = handler;
        }

        @Override
        public void run() {
            callInPool(handler);
        }
    }

    /** A registration to change. */
    private record Change(Member member, int ops) {}

    private static final ThreadLocal<Calls> CALLS = ThreadLocal.withInitial(Calls::new);

    private final SelectorProvider channels;
    private final ExecutorService pool;

    /** The registrations to change. Only the selecting thread changes them. */
    private final Queue<Change> changes = new ConcurrentLinkedQueue<>();

    private final CountDownLatch terminated = new CountDownLatch(1);

    /** Guarded by this. */
    private final Set<Member> members = new HashSet<>();

    /** The calls that the pool has refused for lack of memory or threads, the last one first; guarded by this. */
    private @Nullable Call refused;

    private @Nullable Selector selector;
    private volatile boolean isShutdown;
    private volatile boolean isEnding;

    /**
     * Creates a group without channels.
     *
     * @param channels opens its channels and its selector
     * @param pool calls the handlers, and is shut down with the group
     */
    public RdmaChannelGroup(AsynchronousChannelProvider provider, SelectorProvider channels, ExecutorService pool) {
        super(provider);
        this.channels = channels;
        this.pool = pool;
    }

    SelectorProvider channels() {
        return channels;
    }

    // ---- members

    /**
     * Adds an open channel.
     *
     * @throws ShutdownChannelGroupException if the group is shut down
     */
    synchronized void add(Member member) throws IOException {
        if (isShutdown) {
            throw new ShutdownChannelGroupException();
        }
        if (selector == null) {
            Selector opened = channels.openSelector();
            selector = opened;
            SharedThread.start("rdma4j-asynchronous-channels", () -> turn(opened));
        }
        members.add(member);
    }

    /** Removes a closed channel. If the group is shut down and this was its last channel, ends the group. */
    void remove(Member member) {
        Selector current;
        synchronized (this) {
            members.remove(member);
            current = selector;
        }
        if (current != null) {
            current.wakeup(); // the selecting thread removes the key of the closed channel
        }
        endIfUnused();
    }

    private void endIfUnused() {
        Selector current;
        synchronized (this) {
            if (!isShutdown || !members.isEmpty() || isEnding) {
                return;
            }
            isEnding = true;
            current = selector;
        }
        if (current == null) {
            end();
        } else {
            current.wakeup();
        }
    }

    private void end() {
        pool.shutdown();
        terminated.countDown();
    }

    // ---- waiting

    /** Makes the selecting thread wait until a channel is ready for one of {@code ops}. */
    void await(Member member, int ops) {
        changes.add(new Change(member, ops));
        wakeup();
    }

    private void wakeup() {
        Selector current;
        synchronized (this) {
            current = selector;
        }
        if (current != null) {
            current.wakeup();
        }
    }

    private static void register(Member member, int ops, Selector waiting) {
        try {
            SelectionKey key = member.channel().keyFor(waiting);
            int others = key == null ? 0 : key.interestOps();
            member.channel().register(waiting, others | ops, member);
        } catch (ClosedChannelException | CancelledKeyException closed) {
            member.closeIfFailed(); // if the program closed the channel, its operations are complete
        }
    }

    /** One iteration of the selecting thread. After an exception or error, the next iteration continues. */
    private boolean turn(Selector waiting) throws IOException {
        if (isEnding) {
            try (waiting) {
                return false;
            } finally {
                callRefused();
                end();
            }
        }
        for (Change change = changes.peek(); change != null; change = changes.peek()) {
            register(change.member(), change.ops(), waiting);
            changes.poll();
        }
        try {
            waiting.select(callRefused() ? 0 : RETRY_MILLIS);
        } catch (IOException failed) {
            shutdownNow();
            isEnding = true;
        }
        for (SelectionKey key : List.copyOf(waiting.selectedKeys())) {
            waiting.selectedKeys().remove(key);
            onSelected(key);
        }
        return true;
    }

    private static void onSelected(SelectionKey key) {
        int ready = 0;
        try {
            ready = key.readyOps();
            key.interestOps(key.interestOps() & ~ready);
            ((Member) key.attachment()).onReady(ready);
        } catch (CancelledKeyException closed) {
            ((Member) key.attachment()).closeIfFailed();
        } catch (RuntimeException | Error failed) {
            if (key.isValid()) {
                key.interestOps(key.interestOps() | ready); // the operation has neither continued nor failed
            }
            throw failed;
        }
    }

    // ---- handlers

    /**
     * Calls a handler: directly if the current thread belongs to the pool and runs few handlers, otherwise in the pool.
     */
    void call(Call call) {
        Calls calls = CALLS.get();
        if (calls.group == this && calls.depth < MAX_DIRECT_CALLS) {
            calls.depth++;
            try {
                call.handler.run();
            } finally {
                calls.depth--;
            }
            return;
        }
        if (!isTaken(call)) {
            refuse(call);
            wakeup();
        }
    }

    private synchronized void refuse(Call call) {
        call.next = refused;
        refused = call;
    }

    /** Returns false if the pool has no memory or thread for a call. */
    private boolean isTaken(Call call) {
        try {
            try {
                pool.execute(call);
            } catch (RejectedExecutionException shutdown) {
                Thread.ofVirtual().start(call.handler); // the group is ending, but the program must get the result
            }
            return true;
        } catch (OutOfMemoryError noThread) {
            return false;
        }
    }

    /** Passes the refused calls to the pool again. Returns false if it has refused one of them again. */
    private boolean callRefused() {
        for (Call call = takeRefused(); call != null; call = takeRefused()) {
            if (!isTaken(call)) {
                refuse(call);
                return false;
            }
        }
        return true;
    }

    private synchronized @Nullable Call takeRefused() {
        Call first = refused;
        if (first != null) {
            refused = first.next;
        }
        return first;
    }

    private void callInPool(Runnable handler) {
        Calls calls = CALLS.get();
        RdmaChannelGroup outer = calls.group;
        int outerDepth = calls.depth;
        calls.group = this;
        calls.depth = 1;
        try {
            handler.run();
        } finally {
            calls.group = outer;
            calls.depth = outerDepth;
        }
    }

    // ---- end

    @Override
    public boolean isShutdown() {
        return isShutdown;
    }

    @Override
    public boolean isTerminated() {
        return terminated.getCount() == 0 && pool.isTerminated();
    }

    @Override
    public void shutdown() {
        synchronized (this) {
            isShutdown = true;
        }
        endIfUnused();
    }

    @Override
    public void shutdownNow() {
        List<Member> open;
        synchronized (this) {
            isShutdown = true;
            open = List.copyOf(members);
        }
        for (Member member : open) {
            try {
                member.close();
            } catch (IOException _) {
                // The other channels must also be closed.
            }
        }
        endIfUnused();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        long deadlineNanos = SystemTime.nanos() + unit.toNanos(timeout); // system time: for threads of this process
        return terminated.await(timeout, unit)
                && pool.awaitTermination(deadlineNanos - SystemTime.nanos(), TimeUnit.NANOSECONDS);
    }
}
