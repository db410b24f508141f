package io.rdma4j.soft.engine;

import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A posted work request is seen by the thread that takes its doorbell, or the doorbell remains rung. The flag
 * {@code posted} stands for the send queue, which is read when a queue pair's doorbell is taken.
 */
public final class DoorbellsStress {
    private DoorbellsStress() {}

    /** Two queue pairs and their doorbells. */
    @NullUnmarked // no engine drives these queue pairs
    abstract static class Queues {
        final Doorbells doorbells = new Doorbells();
        final DrivenQueuePair first = queuePair(1);
        final DrivenQueuePair second = queuePair(2);
        private final AtomicBoolean firstPosted = new AtomicBoolean();
        private final AtomicBoolean secondPosted = new AtomicBoolean();
        int seen;

        private static DrivenQueuePair queuePair(int number) {
            var configuration = new QueuePairMachine.Configuration(0, 0, 0, 0, 0, false, 1);
            var machine = new RcQueuePair(number, configuration, new MemoryTable(() -> 1), c -> {}, c -> {}, e -> {});
            return new DrivenQueuePair(null, machine, e -> {});
        }

        private AtomicBoolean posted(DrivenQueuePair queuePair) {
            return queuePair == first ? firstPosted : secondPosted;
        }

        void post(DrivenQueuePair queuePair) {
            posted(queuePair).setRelease(true);
            doorbells.ring(queuePair);
        }

        void take() {
            doorbells.drain(queuePair -> {
                if (posted(queuePair).compareAndSet(true, false)) {
                    seen++;
                }
            });
        }
    }

    /** One thread posts, another one drives. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "both posts were seen")
    @State
    public static class PosterAndDriver extends Queues {
        /** Posts to both. */
        @Actor
        public void poster() {
            post(first);
            post(second);
        }

        /** Drives. */
        @Actor
        public void driver() {
            take();
            take();
        }

        /** Drives again. */
        @Arbiter
        public void end(I_Result r) {
            take();
            r.r1 = seen;
        }
    }

    /** Two threads post. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "both posts were seen")
    @State
    public static class TwoPosters extends Queues {
        /** Posts to one queue pair. */
        @Actor
        public void one() {
            post(first);
        }

        /** Posts to both. */
        @Actor
        public void other() {
            post(second);
            post(first);
        }

        /** Drives. */
        @Arbiter
        public void end(I_Result r) {
            take();
            r.r1 = seen;
        }
    }
}
