package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/** The ring of receives, of one queue pair or shared. */
public final class ReceiveQueueStress {
    private static final MemoryRegion REGION =
            new MemoryTable(() -> 5).register(MemorySegment.ofArray(new byte[8]), 0, AccessFlag.LOCAL_WRITE.bit(), 1);

    private ReceiveQueueStress() {}

    private static boolean post(ReceiveQueue queue, long id) {
        ReceiveRequest request = queue.claim();
        if (request == null) {
            return false;
        }
        request.workRequestId = id;
        request.list.add(REGION, id, 1);
        queue.publish();
        return true;
    }

    private static String text(ReceiveRequest request) {
        return request.workRequestId + "/" + request.list.count + "/" + request.list.offsets[0];
    }

    /** A driver sees nothing, or a receive with its scatter list. */
    @JCStressTest
    @Outcome(id = "nothing, true", expect = Expect.ACCEPTABLE, desc = "not yet posted")
    @Outcome(id = "1/1/1, true", expect = Expect.ACCEPTABLE, desc = "posted, complete")
    @State
    public static class Publish {
        private final ReceiveQueue queue = new ReceiveQueue(4, 2);

        /** Posts a receive. */
        @Actor
        public void poster(LL_Result r) {
            r.r2 = post(queue, 1);
        }

        /** Reads the first receive. */
        @Actor
        public void driver(LL_Result r) {
            ReceiveRequest request = queue.peek();
            r.r1 = request == null ? "nothing" : text(request);
        }
    }

    /** A receive taken out of a full ring belongs to the taker: the next receive is stored in another object. */
    @JCStressTest
    @Outcome(id = "1/1/1, false, nothing", expect = Expect.ACCEPTABLE, desc = "posted while the queue was full")
    @Outcome(id = "1/1/1, true, 2/1/2", expect = Expect.ACCEPTABLE, desc = "posted into the freed slot")
    @State
    public static class Take {
        private final ReceiveQueue queue = new ReceiveQueue(1, 2);

        /** Starts with one receive, which fills the queue. */
        public Take() {
            boolean _ = post(queue, 1);
        }

        /** Takes a receive and reads it later. */
        @Actor
        public void driver(LLL_Result r) {
            ReceiveRequest taken = queue.take(new ReceiveRequest(2));
            r.r1 = taken == null ? "nothing" : text(taken);
        }

        /** Posts another receive. */
        @Actor
        public void poster(LLL_Result r) {
            r.r2 = post(queue, 2);
        }

        /** Reads the remaining receive. */
        @Arbiter
        public void end(LLL_Result r) {
            ReceiveRequest left = queue.peek();
            r.r3 = left == null ? "nothing" : text(left);
        }
    }
}
