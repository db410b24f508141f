package io.rdma4j.transport;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LJ_Result;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** The ring of send work requests between who posts and who drives. */
public final class SendQueueStress {
    private SendQueueStress() {}

    /** Who drives sees nothing, or a request with all that was put into it. */
    @JCStressTest
    @Outcome(id = "nothing, 0", expect = Expect.ACCEPTABLE, desc = "not yet posted")
    @Outcome(id = "1/true/7, 7", expect = Expect.ACCEPTABLE, desc = "posted, whole")
    @State
    public static class Publish {
        private final SendQueue queue = new SendQueue(4, 1, 8);

        /** Posts. */
        @Actor
        public void post() {
            SendRequest place = queue.claim();
            if (place != null) {
                place.workRequestId = 1;
                place.signaled = true;
                place.remoteKey = 7;
                place.lengthBytes = 7;
                queue.publish();
            }
        }

        /** Looks. */
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

    /** The place of a request that is still looked at is not given to who posts. */
    @JCStressTest
    @Outcome(id = "1, full, nothing", expect = Expect.ACCEPTABLE, desc = "posted while the queue was full")
    @Outcome(id = "1, posted, 2", expect = Expect.ACCEPTABLE, desc = "posted after the place was given back, and seen")
    @Outcome(id = "1, posted, nothing", expect = Expect.ACCEPTABLE, desc = "posted after the place was given back")
    @State
    public static class Release {
        private final SendQueue queue = new SendQueue(1, 1, 8);

        /** With one request posted, which fills the queue. */
        public Release() {
            SendRequest place = queue.claim();
            if (place != null) {
                place.workRequestId = 1;
                queue.publish();
            }
        }

        /** Completes the first request, and looks for the next. */
        @Actor
        public void drive(LLL_Result r) {
            r.r1 = queue.at(queue.head()).workRequestId;
            queue.release();
            r.r3 = queue.head() == queue.tail() ? "nothing" : queue.at(queue.head()).workRequestId;
        }

        /** Posts another. */
        @Actor
        public void post(LLL_Result r) {
            SendRequest place = queue.claim();
            if (place == null) {
                r.r2 = "full";
                return;
            }
            place.workRequestId = 2;
            queue.publish();
            r.r2 = "posted";
        }
    }
}
