package io.rdma4j.hardware.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.hardware.library.CallState;
import io.rdma4j.verbs.wait.Waiter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Tests that a failing handler loses neither input, nor other descriptors, nor a thread. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class DescriptorPollerTest {
    private final DescriptorPoller poller = DescriptorPoller.ofProcess();
    private final Waiter waiter = new Waiter();

    /** A descriptor whose handler fails a few times. */
    private final class Source {
        private final int descriptor = Linux.eventDescriptor();
        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger reads = new AtomicInteger();

        Source(List<Error> faults) {
            poller.add(descriptor, () -> {
                int call = calls.getAndIncrement();
                if (call < faults.size()) {
                    throw faults.get(call);
                }
                MemorySegment count = Arena.ofAuto().allocate(8);
                if (Linux.read(descriptor, new CallState(Arena.ofAuto()), count, 8) == 8) {
                    reads.incrementAndGet();
                    waiter.wake();
                }
            });
        }

        void arrive() {
            MemorySegment one = Arena.ofAuto().allocate(8);
            one.set(ValueLayout.JAVA_LONG, 0, 1);
            assertThat(Linux.write(descriptor, new CallState(Arena.ofAuto()), one, 8))
                    .isEqualTo(8);
        }

        void await() {
            assertThat(waiter.await(poller, () -> reads.get() == 1, Long.MAX_VALUE))
                    .isTrue();
            poller.remove(descriptor);
        }
    }

    @Test
    void descriptorWhoseHandlerFailsIsReadAgainAndTheOthersAreRead() {
        List<Error> faults = List.of(
                new OutOfMemoryError("on purpose"),
                new NoClassDefFoundError("on purpose"),
                new AssertionError("on purpose"));
        Source failing = new Source(faults);
        Source other = new Source(List.of());
        failing.arrive();
        other.arrive();
        other.await();
        failing.await();
        assertThat(failing.calls.get()).isGreaterThan(faults.size());
    }

    @Test
    void backgroundThreadSurvivesAFailingHandler() throws InterruptedException {
        Source failing = new Source(List.of(new OutOfMemoryError("on purpose")));
        failing.arrive();
        Thread virtual = Thread.ofVirtual().start(failing::await); // never leads: the background thread does
        virtual.join();
        assertThat(Thread.getAllStackTraces().keySet())
                .anyMatch(thread -> thread.getName().equals("rdma4j-hardware") && thread.isAlive());
    }
}
