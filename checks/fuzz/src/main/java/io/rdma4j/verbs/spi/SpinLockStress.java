package io.rdma4j.verbs.spi;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Only one thread at a time holds the lock, and it sees the writes of the previous holder. */
@JCStressTest
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "each thread added one")
@State
public class SpinLockStress {
    private final SpinLock lock = new SpinLock();
    private int count;

    /** Starts with a free lock. */
    public SpinLockStress() {}

    private void add() {
        lock.lock();
        count++;
        lock.unlock();
    }

    /** Adds one. */
    @Actor
    public void one() {
        add();
    }

    /** Adds one, spinning until {@code tryLock} succeeds. */
    @Actor
    public void other() {
        while (!lock.tryLock()) {
            Thread.onSpinWait();
        }
        count++;
        lock.unlock();
    }

    /** Returns the sum. */
    @Arbiter
    public void end(I_Result r) {
        r.r1 = count;
    }
}
