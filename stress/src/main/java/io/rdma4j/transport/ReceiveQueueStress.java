package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/** The ring of receives, its own or shared. */
public final class ReceiveQueueStress {
    private static final MemoryRegion REGION =
            new MemoryTable(() -> 5).register(MemorySegment.ofArray(new byte[8]), 0, AccessFlags.LOCAL_WRITE, 1);

    private ReceiveQueueStress() {}

    private static boolean post(ReceiveQueue queue, long id) {
        ReceiveRequest place = queue.claim();
        if (place == null) {
            return false;
        }
        place.workRequestId = id;
        place.list.add(REGION, id, 1);
        queue.publish();
        return true;
    }

    private static String text(ReceiveRequest request) {
        return request.workRequestId + "/" + request.list.count + "/" + request.list.offsets[0];
    }

    /** Who drives sees nothing, or a receive with its list. */
    @JCStressTest
    @Outcome(id = "nothing, true", expect = Expect.ACCEPTABLE, desc = "not yet posted")
    @Outcome(id = "1/1/1, true", expect = Expect.ACCEPTABLE, desc = "posted, whole")
    @State
    public static class Publish {
        private final ReceiveQueue queue = new ReceiveQueue(4, 2);

        /** Posts. */
        @Actor
        public void poster(LL_Result r) {
            r.r2 = post(queue, 1);
        }

        /** Looks. */
        @Actor
        public void driver(LL_Result r) {
            ReceiveRequest request = queue.peek();
            r.r1 = request == null ? "nothing" : text(request);
        }
    }

    /** What is taken out of a full ring is the taker's: the next receive goes into another object. */
    @JCStressTest
    @Outcome(id = "1/1/1, false, nothing", expect = Expect.ACCEPTABLE, desc = "posted while the queue was full")
    @Outcome(
            id = "1/1/1, true, 2/1/2",
            expect = Expect.ACCEPTABLE,
            desc = "posted into the place that was taken out of")
    @State
    public static class Take {
        private final ReceiveQueue queue = new ReceiveQueue(1, 2);

        /** With one receive, which fills the queue. */
        public Take() {
            boolean _ = post(queue, 1);
        }

        /** Takes, and looks at it later. */
        @Actor
        public void driver(LLL_Result r) {
            ReceiveRequest taken = queue.take(new ReceiveRequest(2));
            r.r1 = taken == null ? "nothing" : text(taken);
        }

        /** Posts another. */
        @Actor
        public void poster(LLL_Result r) {
            r.r2 = post(queue, 2);
        }

        /** What is left. */
        @Arbiter
        public void end(LLL_Result r) {
            ReceiveRequest left = queue.peek();
            r.r3 = left == null ? "nothing" : text(left);
        }
    }
}
