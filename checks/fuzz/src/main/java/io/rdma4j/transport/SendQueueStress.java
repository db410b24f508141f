package io.rdma4j.transport;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LJ_Result;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** The ring of send work requests between a posting and a driving thread. */
public final class SendQueueStress {
    private SendQueueStress() {}

    /** A driver sees nothing, or a request with all its fields. */
    @JCStressTest
    @Outcome(id = "nothing, 0", expect = Expect.ACCEPTABLE, desc = "not yet posted")
    @Outcome(id = "1/true/7, 7", expect = Expect.ACCEPTABLE, desc = "posted, complete")
    @State
    public static class Publish {
        private final SendQueue queue = new SendQueue(4, 1, 8);

        /** Posts a request. */
        @Actor
        public void post() {
            SendRequest request = queue.claim();
            if (request != null) {
                request.workRequestId = 1;
                request.signaled = true;
                request.remoteKey = 7;
                request.lengthBytes = 7;
                queue.publish();
            }
        }

        /** Reads the first request. */
        @Actor
        public void drive(LJ_Result r) {
            if (queue.head() == queue.tail()) {
                r.r1 = "nothing";
                return;
            }
            SendRequest request = queue.at(queue.head());
            r.r1 = request.workRequestId + "/" + request.signaled + "/" + request.remoteKey;
            r.r2 = request.lengthBytes;
        }
    }

    /** The slot of a request that is still in use is not claimed for another one. */
    @JCStressTest
    @Outcome(id = "1, full, nothing", expect = Expect.ACCEPTABLE, desc = "posted while the queue was full")
    @Outcome(id = "1, posted, 2", expect = Expect.ACCEPTABLE, desc = "posted after the slot was released, and seen")
    @Outcome(id = "1, posted, nothing", expect = Expect.ACCEPTABLE, desc = "posted after the slot was released")
    @State
    public static class Release {
        private final SendQueue queue = new SendQueue(1, 1, 8);

        /** Starts with one request, which fills the queue. */
        public Release() {
            SendRequest request = queue.claim();
            if (request != null) {
                request.workRequestId = 1;
                queue.publish();
            }
        }

        /** Completes the first request and reads the next. */
        @Actor
        public void drive(LLL_Result r) {
            r.r1 = queue.at(queue.head()).workRequestId;
            queue.release();
            r.r3 = queue.head() == queue.tail() ? "nothing" : queue.at(queue.head()).workRequestId;
        }

        /** Posts another request. */
        @Actor
        public void post(LLL_Result r) {
            SendRequest request = queue.claim();
            if (request == null) {
                r.r2 = "full";
                return;
            }
            request.workRequestId = 2;
            queue.publish();
            r.r2 = "posted";
        }
    }
}
