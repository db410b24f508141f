package io.rdma4j;

import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;

/** The end of a wait for an object, by the clock of the object's device, which may be a virtual one. Used by one thread. */
final class Deadline {
    private final Waitable source;
    private WaitDriver clock;
    private long nanos;

    Deadline(Waitable source, Duration timeout) {
        this.source = source;
        clock = source.waitDriver();
        nanos = clock.deadlineNanos(timeout);
    }

    /** Returns the remaining time, which is not positive after the deadline. */
    Duration remaining() {
        if (nanos == Long.MAX_VALUE) {
            return WaitDriver.CENTURY;
        }
        WaitDriver current = source.waitDriver();
        if (!current.equals(clock)) { // the device was chosen meanwhile, and has another clock
            nanos = current.nanoTime() + (nanos - clock.nanoTime());
            clock = current;
        }
        return Duration.ofNanos(nanos - current.nanoTime());
    }
}
