package io.rdma4j.soft.device;

import io.rdma4j.transport.Completion;
import io.rdma4j.verbs.WorkCompletion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/** Completions passed from engines to polling threads. */
public final class CompletionRingStress {
    private CompletionRingStress() {}

    private static boolean add(CompletionRing ring, int id) {
        Completion completion = new Completion();
        completion.workRequestId = id;
        completion.byteLength = 10L * id;
        completion.queuePairNumber = 100 * id;
        return ring.add(completion, id);
    }

    /** Takes a completion. Returns 0 if there is none, or a negative number if its fields are inconsistent. */
    private static int take(CompletionRing ring) {
        WorkCompletion[] one = WorkCompletion.array(1);
        if (ring.poll(one) == 0) {
            return 0;
        }
        int id = (int) one[0].id();
        boolean isWhole = one[0].byteLength() == 10L * id && one[0].queuePairNumber() == 100 * id;
        return isWhole ? id : -id;
    }

    /** A polling thread finds nothing or a completion with all its fields. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "taken once, whole")
    @State
    public static class AddAndTake {
        private final CompletionRing ring = new CompletionRing(2);

        /** Adds a completion. */
        @Actor
        public void engine() {
            boolean _ = add(ring, 1);
        }

        /** Polls. */
        @Actor
        public void application(II_Result r) {
            r.r1 = take(ring);
        }

        /** Takes the remaining completion. */
        @Arbiter
        public void end(II_Result r) {
            r.r2 = take(ring);
        }
    }

    /** Two threads poll: each completion is returned to one of them. */
    @JCStressTest
    @Outcome(
            id = {"1, 2", "2, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "each taken once, whole")
    @State
    public static class TwoConsumers {
        private final CompletionRing ring = new CompletionRing(2);

        /** Starts with two completions. */
        public TwoConsumers() {
            boolean _ = add(ring, 1) && add(ring, 2);
        }

        /** Polls. */
        @Actor
        public void one(II_Result r) {
            r.r1 = take(ring);
        }

        /** Polls. */
        @Actor
        public void other(II_Result r) {
            r.r2 = take(ring);
        }
    }

    /** A full ring refuses a completion and overwrites none that is not taken. */
    @JCStressTest
    @Outcome(id = "1, true, 2/3/0", expect = Expect.ACCEPTABLE, desc = "taken first: a slot was free")
    @Outcome(id = "1, false, 2/0/0", expect = Expect.ACCEPTABLE, desc = "added first: no slot was free")
    @State
    public static class Full {
        private final CompletionRing ring = new CompletionRing(2);

        /** Starts with two completions, which fill the ring. */
        public Full() {
            boolean _ = add(ring, 1) && add(ring, 2);
        }

        /** Adds a completion. */
        @Actor
        public void engine(LLL_Result r) {
            r.r2 = add(ring, 3);
        }

        /** Polls. */
        @Actor
        public void application(LLL_Result r) {
            r.r1 = take(ring);
        }

        /** Takes the remaining completions. */
        @Arbiter
        public void end(LLL_Result r) {
            r.r3 = take(ring) + "/" + take(ring) + "/" + take(ring);
        }
    }

    /** Two engines add: no completion is lost. */
    @JCStressTest
    @Outcome(id = "6", expect = Expect.ACCEPTABLE, desc = "all are present")
    @State
    public static class TwoEngines {
        private final CompletionRing ring = new CompletionRing(4);

        /** Starts with one completion. */
        public TwoEngines() {
            ring.expectManyProducers();
            boolean _ = add(ring, 1);
        }

        /** Adds a completion. */
        @Actor
        public void one() {
            boolean _ = add(ring, 2);
        }

        /** Adds a completion. */
        @Actor
        public void other() {
            boolean _ = add(ring, 3);
        }

        /** Returns the sum of all completions. */
        @Arbiter
        public void end(I_Result r) {
            r.r1 = take(ring) + take(ring) + take(ring) + take(ring);
        }
    }

    /** An engine adds while the ring is enlarged. */
    @JCStressTest
    @Outcome(id = "true, 1/2", expect = Expect.ACCEPTABLE, desc = "both are present")
    @State
    public static class Resize {
        private final CompletionRing ring = new CompletionRing(2);

        /** Starts with one completion. */
        public Resize() {
            ring.expectManyProducers();
            boolean _ = add(ring, 1);
        }

        /** Adds a completion. */
        @Actor
        public void engine() {
            boolean _ = add(ring, 2);
        }

        /** Enlarges the ring. */
        @Actor
        public void application(LL_Result r) {
            r.r1 = ring.resize(8);
        }

        /** Takes the completions. */
        @Arbiter
        public void end(LL_Result r) {
            r.r2 = take(ring) + "/" + take(ring);
        }
    }

    /** The table doubles when an engine adds to a full one, while a thread polls. */
    @JCStressTest
    @Outcome(id = "1, 152", expect = Expect.ACCEPTABLE, desc = "the first is taken, the others are present, whole")
    @State
    public static class Growth {
        private static final int INITIAL_ENTRIES = 16;

        private final CompletionRing ring = new CompletionRing(4 * INITIAL_ENTRIES);

        /** Starts with completions 1 to 16, which fill the table. */
        public Growth() {
            for (int id = 1; id <= INITIAL_ENTRIES; id++) {
                boolean _ = add(ring, id);
            }
        }

        /** Adds completion 17. */
        @Actor
        public void engine() {
            boolean _ = add(ring, INITIAL_ENTRIES + 1);
        }

        /** Polls. */
        @Actor
        public void application(II_Result r) {
            r.r1 = take(ring);
        }

        /** Returns the sum of the remaining completions. */
        @Arbiter
        public void end(II_Result r) {
            for (int i = 0; i < INITIAL_ENTRIES; i++) {
                r.r2 += take(ring);
            }
        }
    }
}
