package io.rdma4j.sockets.io;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Where the completion queues of all sockets of a device report, and where threads that wait for them wait. One of those
 * threads leads: it waits at the device's channel, drives the device meanwhile, and lets every socket handle what has come
 * for it; the others follow. So no thread stands between the device and a thread that waits. Thread safe.
 */
final class CompletionHub {
    /** Handles the completions of one queue; it is the context of that queue. */
    interface Target {
        /** The queue has something, or had. */
        void onCompletions();
    }

    private static final Map<DeviceContext, CompletionHub> HUBS = new ConcurrentHashMap<>();
    private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);

    private final CompletionChannel channel;
    private final AtomicReference<@Nullable SocketWaiter> leader = new AtomicReference<>();
    private final ConcurrentLinkedDeque<SocketWaiter> followers = new ConcurrentLinkedDeque<>();

    private CompletionHub(DeviceContext context) {
        channel = context.createCompletionChannel();
    }

    /** The hub of a device, made when it is needed first. Hubs of devices that have gone stay with their sockets only. */
    static CompletionHub of(DeviceContext context) {
        CompletionHub known = HUBS.get(context);
        if (known != null) {
            return known;
        }
        List<Device> present = Device.list();
        HUBS.keySet().removeIf(other -> !present.contains(other.device()));
        return HUBS.computeIfAbsent(context, CompletionHub::new);
    }

    CompletionChannel channel() {
        return channel;
    }

    void wakeup() {
        channel.wakeup();
    }

    /**
     * Waits until the waiter is signaled, its time is over or its thread is interrupted; maybe shorter. While any thread is
     * in here, one leads: a thread that leaves without a leader behind it wakes a follower, which leads or does the same.
     */
    void await(SocketWaiter waiter, long deadlineNanos) {
        do {
            if (leader.compareAndSet(null, waiter)) {
                leadUntilOver(waiter, deadlineNanos);
                return;
            }
            follow(waiter, deadlineNanos);
        } while (!waiter.isSignaled() && !SocketWaiter.isOver(deadlineNanos));
        promote(); // this thread may have been the one that was woken to lead
    }

    private void leadUntilOver(SocketWaiter waiter, long deadlineNanos) {
        waiter.leading(this);
        try {
            lead(waiter, deadlineNanos);
        } finally {
            waiter.leading(null);
            leader.set(null);
            promote();
        }
    }

    private void follow(SocketWaiter waiter, long deadlineNanos) {
        followers.add(waiter);
        try {
            if (leader.get() != null) {
                waiter.park(deadlineNanos);
            }
        } finally {
            followers.remove(waiter);
        }
    }

    /** A thread that drives the device and nothing else, for those who wait elsewhere at the same time. */
    HelperThread helperThread() {
        return new HelperThread(this);
    }

    /** See {@link #helperThread}. */
    static final class HelperThread {
        private final CompletionHub hub;
        private volatile @Nullable SocketWaiter waiter;
        private volatile boolean over;

        private HelperThread(CompletionHub hub) {
            this.hub = hub;
            Thread.ofVirtual().name("rdma4j-stand-in").start(this::run);
        }

        private void run() {
            SocketWaiter own = new SocketWaiter();
            waiter = own;
            while (!over) {
                hub.await(own, Long.MAX_VALUE);
            }
        }

        /** Ends the thread, soon. */
        void end() {
            over = true;
            SocketWaiter own = waiter;
            if (own != null) {
                own.signal();
            }
        }
    }

    /** Where nobody leads, lets a follower try to. */
    private void promote() {
        SocketWaiter next = leader.get() == null ? followers.peek() : null;
        if (next != null) {
            next.nudge();
        }
    }

    private void lead(SocketWaiter waiter, long deadlineNanos) {
        while (!waiter.isSignaled() && !SocketWaiter.isOver(deadlineNanos)) {
            CompletionQueue queue = channel.await(
                    deadlineNanos == Long.MAX_VALUE
                            ? FOR_EVER
                            : Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime())));
            while (queue != null) {
                handle(queue);
                queue = channel.poll();
            }
        }
    }

    private static void handle(CompletionQueue queue) {
        queue.acknowledgeEvents(1);
        if (queue.userContext() instanceof Target target) {
            target.onCompletions();
        }
    }

    /** Handles what has been told and nobody who waits has taken yet, without waiting; for those who only look. */
    void poll() {
        CompletionQueue queue = channel.poll();
        while (queue != null) {
            handle(queue);
            queue = channel.poll();
        }
    }
}
