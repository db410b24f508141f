package io.rdma4j.soft.device;

import io.rdma4j.transport.Completion;
import io.rdma4j.verbs.WorkCompletion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Notification requests concurrent with new completions, in the order that a completion queue uses. */
public final class EventRequestStress {
    private EventRequestStress() {}

    private static boolean add(CompletionRing ring, EventRequest request) {
        Completion completion = new Completion();
        boolean _ = ring.add(completion, 0);
        return request.consume(completion.solicited);
    }

    /** A thread that requests an event and then polls finds the completion or gets the event. */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "found")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "event")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "found, and event")
    @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "a wake-up was lost")
    @State
    public static class RequestAndPoll {
        private final CompletionRing ring = new CompletionRing(2);
        private final EventRequest request = new EventRequest();

        /** Adds a completion. */
        @Actor
        public void engine(ZZ_Result r) {
            r.r2 = add(ring, request);
        }

        /** Requests an event, then polls. */
        @Actor
        public void application(ZZ_Result r) {
            request.arm(false);
            r.r1 = ring.poll(WorkCompletion.array(1)) == 1;
        }
    }

    /** Two completions consume one request once. */
    @JCStressTest
    @Outcome(
            id = {"true, false, false", "false, true, false"},
            expect = Expect.ACCEPTABLE,
            desc = "one event")
    @State
    public static class TwoCompletions {
        private final EventRequest request = new EventRequest();

        /** Starts with a request. */
        public TwoCompletions() {
            request.arm(false);
        }

        /** Adds a completion. */
        @Actor
        public void one(ZZZ_Result r) {
            r.r1 = request.consume(true);
        }

        /** Adds a completion. */
        @Actor
        public void other(ZZZ_Result r) {
            r.r2 = request.consume(false);
        }

        /** Reports whether the request is still pending. */
        @Arbiter
        public void end(ZZZ_Result r) {
            r.r3 = request.consume(true);
        }
    }

    /** A request for solicited completions is not lost when it is extended to all completions. */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "one event for both requests")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "requested again after the event")
    @State
    public static class ExtendRequest {
        private final EventRequest request = new EventRequest();

        /** Starts with a request for solicited completions. */
        public ExtendRequest() {
            request.arm(true);
        }

        /** Adds a solicited completion. */
        @Actor
        public void engine(ZZ_Result r) {
            r.r1 = request.consume(true);
        }

        /** Requests an event for any completion. */
        @Actor
        public void application() {
            request.arm(false);
        }

        /** Reports whether a request is still pending. */
        @Arbiter
        public void end(ZZ_Result r) {
            r.r2 = request.consume(true);
        }
    }
}
