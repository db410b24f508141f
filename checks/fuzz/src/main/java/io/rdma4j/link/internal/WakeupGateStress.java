package io.rdma4j.link.internal;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A signal races with a thread that is about to block. The thread does not block, or it is woken. */
@JCStressTest
@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "blocked first: the signal wakes it")
@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "signalled first: it does not block")
@State
public class WakeupGateStress {
    private final WakeupGate gate = new WakeupGate();

    /** Starts without a signal. */
    public WakeupGateStress() {}

    /** Announces that it will block. */
    @Actor
    public void waiter(ZZ_Result r) {
        r.r1 = gate.beginWait();
    }

    /** Signals. The result is true if a thread must be woken. */
    @Actor
    public void signaller(ZZ_Result r) {
        r.r2 = gate.signal();
    }
}
