package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** As long as a thread waits at a hub, one thread leads: it is in the wait of the device's channel. */
@Timeout(60)
class CompletionHubTest {
    private static final long PATIENCE_NANOS = 20_000_000_000L;

    /** A channel at which threads only wait and are woken. */
    private static final class Channel implements CompletionChannel {
        private final Semaphore wakeups = new Semaphore(0);
        private final AtomicInteger inside = new AtomicInteger();

        @Override
        public @Nullable CompletionQueue await() {
            return await(Duration.ofDays(1));
        }

        @Override
        public @Nullable CompletionQueue await(Duration timeout) {
            inside.incrementAndGet();
            try {
                wakeups.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                inside.decrementAndGet();
            }
            return null;
        }

        @Override
        public @Nullable CompletionQueue poll() {
            return null;
        }

        @Override
        public void wakeup() {
            wakeups.release();
        }

        @Override
        public void close() {}
    }

    /** A thread in one wait; what it does after that is not to wait again. */
    private final class Waiting {
        private final AtomicReference<@Nullable SocketWaiter> waiter = new AtomicReference<>();
        private final Thread thread;

        Waiting(long deadlineNanos) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                SocketWaiter own = new SocketWaiter();
                waiter.set(own);
                hub.await(own, deadlineNanos);
            });
        }

        /** Lets its wait be over, as the arrival of its data does. */
        void signal() {
            SocketWaiter own = waiter.get();
            if (own != null) {
                own.signal();
            }
        }

        /** It waits in the channel if it leads, else it is parked. */
        Waiting begun() throws InterruptedException {
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            while (waiter.get() == null
                    || thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.sleep(1);
            }
            return this;
        }
    }

    private final Channel channel = new Channel();
    private final CompletionHub hub = CompletionHub.of(device());

    /** A device that the system does not list. */
    private static final Device NO_DEVICE = (Device) Proxy.newProxyInstance(
            CompletionHubTest.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (self, method, arguments) -> switch (method.getName()) {
                case "hashCode" -> 1;
                case "equals" -> false;
                default -> throw new UnsupportedOperationException(method.getName());
            });

    private DeviceContext device() {
        return (DeviceContext) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DeviceContext.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "createCompletionChannel" -> channel;
                    case "device" -> NO_DEVICE;
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> System.identityHashCode(self) == System.identityHashCode(arguments[0]);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @Test
    void theHubOfADeviceThatHasGoneIsForgottenWhenAnotherIsMade() {
        DeviceContext gone = device();
        CompletionHub first = CompletionHub.of(gone);
        assertThat(CompletionHub.of(gone)).isSameAs(first);
        CompletionHub _ = CompletionHub.of(device());
        assertThat(CompletionHub.of(gone)).isNotSameAs(first);
    }

    @AfterEach
    void everybodyIsReleased() {
        channel.wakeups.release(1000);
    }

    private void awaitALeader(String after) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (channel.inside.get() == 0) {
            assertThat(System.nanoTime()).as("a thread leads " + after).isLessThan(deadline);
            Thread.sleep(1);
        }
    }

    @Test
    void aFollowerThatIsWokenLeadsThoughItsOwnWaitMayEndRightAfter() throws InterruptedException {
        Waiting leader = new Waiting(Long.MAX_VALUE).begun();
        Waiting next = new Waiting(Long.MAX_VALUE).begun();
        Waiting last = new Waiting(Long.MAX_VALUE).begun();
        leader.signal();
        leader.thread.join();
        awaitALeader("after the first has left");
        next.signal();
        next.thread.join();
        awaitALeader("after the second has left");
        last.signal();
        last.thread.join();
        assertThat(channel.inside).hasValue(0);
    }

    @Test
    void aFollowerWhoseWaitIsOverWhenItIsWokenHandsOn() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            Waiting leader = new Waiting(Long.MAX_VALUE).begun();
            Waiting next = new Waiting(Long.MAX_VALUE).begun();
            Waiting last = new Waiting(Long.MAX_VALUE).begun();
            Thread signaling = Thread.ofPlatform().start(next::signal);
            leader.signal();
            leader.thread.join();
            signaling.join();
            next.thread.join();
            awaitALeader("in round " + round);
            last.signal();
            last.thread.join();
        }
    }

    @Test
    void aFollowerWhoseTimeIsOverHandsOn() throws InterruptedException {
        for (int round = 0; round < 50; round++) {
            Waiting leader = new Waiting(Long.MAX_VALUE).begun();
            Waiting next = new Waiting(System.nanoTime() + 20_000_000);
            Waiting last = new Waiting(Long.MAX_VALUE).begun();
            next.thread.join(19);
            leader.signal();
            leader.thread.join();
            next.thread.join();
            awaitALeader("in round " + round);
            last.signal();
            last.thread.join();
        }
    }
}
