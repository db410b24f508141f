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
 * The completion channel that all sockets of a device share, and the threads that wait for their completions. One of the threads
 * leads: it waits at the channel, which drives the device, and lets each socket handle its completions. The others follow. So
 * no thread hand-off lies between the device and a waiting thread. Thread safe.
 */
final class CompletionHub {
    /** Handles the completions of one queue; it is the context of that queue. */
    interface Target {
        /** Called when the queue may have completions. */
        void onCompletions();
    }

    private static final Map<DeviceContext, CompletionHub> HUBS = new ConcurrentHashMap<>();
    private static final Duration INDEFINITELY = Duration.ofNanos(Long.MAX_VALUE);

    private final CompletionChannel channel;
    private final AtomicReference<@Nullable SocketWaiter> leader = new AtomicReference<>();
    private final ConcurrentLinkedDeque<SocketWaiter> followers = new ConcurrentLinkedDeque<>();

    private CompletionHub(DeviceContext context) {
        channel = context.createCompletionChannel();
    }

    /** Returns the hub of a device, which the first call creates. Hubs of removed devices are kept by their sockets only. */
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
     * Waits until the waiter is signaled, the deadline passes or the thread is interrupted; may return early. While any thread
     * waits, one leads: a thread that leaves and sees no leader wakes a follower, which leads or does the same.
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

    /** Starts a thread that only drives the device, for threads that wait elsewhere at the same time. */
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
            Thread.ofVirtual().name("rdma4j-socket-driver").start(this::run);
        }

        private void run() {
            SocketWaiter own = new SocketWaiter();
            waiter = own;
            while (!over) {
                hub.await(own, Long.MAX_VALUE);
            }
        }

        /** Ends the thread; does not wait for it. */
        void end() {
            over = true;
            SocketWaiter own = waiter;
            if (own != null) {
                own.signal();
            }
        }
    }

    /** Wakes a follower if no thread leads. */
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
                            ? INDEFINITELY
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

    /** Handles the pending events of the channel without waiting. */
    void poll() {
        CompletionQueue queue = channel.poll();
        while (queue != null) {
            handle(queue);
            queue = channel.poll();
        }
    }
}
