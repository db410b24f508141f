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

/** Completions between engines and threads that poll. */
public final class CompletionRingStress {
    private CompletionRingStress() {}

    private static boolean add(CompletionRing ring, int id) {
        Completion completion = new Completion();
        completion.workRequestId = id;
        completion.byteLength = 10L * id;
        completion.queuePairNumber = 100 * id;
        return ring.add(completion, id);
    }

    /** Takes one; 0 for none, negative for one whose parts do not belong together. */
    private static int take(CompletionRing ring) {
        WorkCompletion[] one = WorkCompletion.array(1);
        if (ring.poll(one) == 0) {
            return 0;
        }
        int id = (int) one[0].id();
        boolean isWhole = one[0].byteLength() == 10L * id && one[0].queuePairNumber() == 100 * id;
        return isWhole ? id : -id;
    }

    /** Who polls finds nothing, or a completion with all its parts. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "taken once, whole")
    @State
    public static class AddAndTake {
        private final CompletionRing ring = new CompletionRing(2);

        /** Adds one. */
        @Actor
        public void engine() {
            boolean _ = add(ring, 1);
        }

        /** Polls. */
        @Actor
        public void application(II_Result r) {
            r.r1 = take(ring);
        }

        /** What is left. */
        @Arbiter
        public void end(II_Result r) {
            r.r2 = take(ring);
        }
    }

    /** Two threads poll: each completion goes to one of them. */
    @JCStressTest
    @Outcome(
            id = {"1, 2", "2, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "each taken once, whole")
    @State
    public static class TwoTakers {
        private final CompletionRing ring = new CompletionRing(2);

        /** With two completions. */
        public TwoTakers() {
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

    /** A full ring refuses, and overwrites nothing that is not taken. */
    @JCStressTest
    @Outcome(id = "1, true, 2/3/0", expect = Expect.ACCEPTABLE, desc = "taken first: there was room")
    @Outcome(id = "1, false, 2/0/0", expect = Expect.ACCEPTABLE, desc = "added first: there was none")
    @State
    public static class Full {
        private final CompletionRing ring = new CompletionRing(2);

        /** With two completions, which fill it. */
        public Full() {
            boolean _ = add(ring, 1) && add(ring, 2);
        }

        /** Adds one. */
        @Actor
        public void engine(LLL_Result r) {
            r.r2 = add(ring, 3);
        }

        /** Polls. */
        @Actor
        public void application(LLL_Result r) {
            r.r1 = take(ring);
        }

        /** What is left. */
        @Arbiter
        public void end(LLL_Result r) {
            r.r3 = take(ring) + "/" + take(ring) + "/" + take(ring);
        }
    }

    /** Two engines add: nothing is lost. */
    @JCStressTest
    @Outcome(id = "6", expect = Expect.ACCEPTABLE, desc = "all are there")
    @State
    public static class TwoEngines {
        private final CompletionRing ring = new CompletionRing(4);

        /** With one completion. */
        public TwoEngines() {
            ring.expectManyProducers();
            boolean _ = add(ring, 1);
        }

        /** Adds one. */
        @Actor
        public void one() {
            boolean _ = add(ring, 2);
        }

        /** Adds one. */
        @Actor
        public void other() {
            boolean _ = add(ring, 3);
        }

        /** The sum of what is there. */
        @Arbiter
        public void end(I_Result r) {
            r.r1 = take(ring) + take(ring) + take(ring) + take(ring);
        }
    }

    /** An engine adds while the ring is made larger. */
    @JCStressTest
    @Outcome(id = "true, 1/2", expect = Expect.ACCEPTABLE, desc = "both are there")
    @State
    public static class Resize {
        private final CompletionRing ring = new CompletionRing(2);

        /** With one completion. */
        public Resize() {
            ring.expectManyProducers();
            boolean _ = add(ring, 1);
        }

        /** Adds one. */
        @Actor
        public void engine() {
            boolean _ = add(ring, 2);
        }

        /** Makes it larger. */
        @Actor
        public void application(LL_Result r) {
            r.r1 = ring.resize(8);
        }

        /** What is there. */
        @Arbiter
        public void end(LL_Result r) {
            r.r2 = take(ring) + "/" + take(ring);
        }
    }
}
