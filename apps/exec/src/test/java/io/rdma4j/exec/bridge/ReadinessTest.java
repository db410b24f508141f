package io.rdma4j.exec.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import io.rdma4j.verbs.wait.Waiter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Tests {@link Readiness} with a source of events and a fake descriptor. */
class ReadinessTest {
    private static final int DESCRIPTOR = 7;

    private final AtomicInteger events = new AtomicInteger();
    private final AtomicInteger counter = new AtomicInteger();
    private final AtomicInteger writes = new AtomicInteger();
    private final Signal signal = new Signal();
    private final AtomicInteger outsideWaits = new AtomicInteger();
    private final WaitDriver driver = new WaitDriver() {
        @Override
        public boolean driveUntil(Waiter waiter, BooleanSupplier done, long deadlineNanos) {
            throw new AssertionError("readiness does not wait");
        }

        @Override
        public void wake(Waiter waiter) {}

        @Override
        public boolean poll() {
            return false;
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void beginOutsideWait() {
            outsideWaits.incrementAndGet();
        }

        @Override
        public void endOutsideWait() {
            outsideWaits.decrementAndGet();
        }
    };
    private final Waitable source = new Waitable() {
        @Override
        public boolean isReady() {
            return events.get() > 0;
        }

        @Override
        public Signal signal() {
            return signal;
        }

        @Override
        public WaitDriver waitDriver() {
            return driver;
        }
    };
    private final Readiness readiness = new Readiness(source, DESCRIPTOR, new Readiness.Descriptors() {
        @Override
        public void raise(int descriptor) {
            assertThat(descriptor).isEqualTo(DESCRIPTOR);
            counter.incrementAndGet();
            writes.incrementAndGet();
        }

        @Override
        public void lower(int descriptor) {
            assertThat(descriptor).isEqualTo(DESCRIPTOR);
            counter.set(0);
        }
    });

    private void addEvent() {
        events.incrementAndGet();
        signal.raise();
    }

    private boolean take() {
        boolean taken = events.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
        readiness.update();
        return taken;
    }

    @Test
    void eventsBeforeTheStartMakeItReadable() {
        events.set(1);
        assertThat(counter).hasValue(0);
        readiness.start();
        assertThat(counter).hasValue(1);
    }

    @Test
    void itIsReadableUntilTheLastEventIsTaken() {
        readiness.start();
        addEvent();
        addEvent();
        assertThat(counter).hasValue(1);
        assertThat(take()).isTrue();
        assertThat(counter).hasValue(1);
        assertThat(take()).isTrue();
        assertThat(counter).hasValue(0);
        assertThat(take()).isFalse();
        assertThat(writes).hasValue(1);
    }

    @Test
    void aSignalWithoutEventDoesNotMakeItReadable() {
        readiness.start();
        signal.raise();
        assertThat(counter).hasValue(0);
    }

    @Test
    void removedEventsMakeItUnreadable() {
        readiness.start();
        addEvent();
        events.set(0);
        readiness.update();
        assertThat(counter).hasValue(0);
    }

    @Test
    void aClosedDescriptorIsNotUpdated() {
        readiness.start();
        readiness.close();
        addEvent();
        readiness.update();
        assertThat(writes).hasValue(0);
    }

    @Test
    void theDeviceDrivesItselfUntilTheExpectedEvent() {
        readiness.start();
        readiness.expect();
        readiness.expect();
        assertThat(outsideWaits).hasValue(1);
        addEvent();
        assertThat(outsideWaits).hasValue(0);
        readiness.expect();
        assertThat(outsideWaits).hasValue(0);
        assertThat(take()).isTrue();
        readiness.expect();
        assertThat(outsideWaits).hasValue(1);
        readiness.close();
        assertThat(outsideWaits).hasValue(0);
    }

    @Test
    void noEventIsLostBetweenTwoThreads() throws Exception {
        int total = 100_000;
        readiness.start();
        CountDownLatch begin = new CountDownLatch(1);
        Thread producer = Thread.ofPlatform().start(() -> {
            begin.countDown();
            for (int i = 0; i < total; i++) {
                addEvent();
            }
        });
        begin.await();
        int taken = 0;
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (taken < total) {
            assertThat(System.nanoTime())
                    .as("readable after %s of %s", taken, total)
                    .isLessThan(deadline);
            if (counter.get() > 0) {
                // This is the only consumer, so there is an event.
                assertThat(take()).isTrue();
                taken++;
            } else {
                Thread.onSpinWait();
            }
        }
        producer.join();
        assertThat(counter).hasValue(0);
        assertThat(take()).isFalse();
    }
}
