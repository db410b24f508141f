package io.rdma4j.testkit;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * The time of a {@link TestNetwork} in virtual time. It passes only while a thread waits for an object of a stack, and
 * in the methods of this class. Used by the thread that uses the network.
 */
public final class VirtualTime {
    private final VirtualClock clock;

    VirtualTime(VirtualClock clock) {
        this.clock = clock;
    }

    /** Returns the time that has passed since the network was created, in nanoseconds. */
    public long elapsedNanos() {
        return clock.nanoTime();
    }

    /** Returns the time that has passed since the network was created. */
    public Duration elapsed() {
        return Duration.ofNanos(elapsedNanos());
    }

    /**
     * Runs a duty cycle of each stack, or advances the clock to the next timer if all are idle.
     *
     * @throws IllegalStateException if no stack has a timer, so that no event can follow
     */
    public void step() {
        clock.step(Long.MAX_VALUE);
    }

    /**
     * Lets time pass, even if no stack has a timer.
     *
     * @throws IllegalArgumentException if the duration is negative
     */
    public void advance(Duration duration) {
        await(() -> false, duration);
    }

    /**
     * Lets time pass until a condition holds.
     *
     * @param condition checked before each step
     * @param timeout the maximum time to wait, in virtual time
     * @return the condition: false after the timeout
     * @throws IllegalArgumentException if the timeout is negative
     */
    public boolean await(BooleanSupplier condition, Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "time cannot pass by " + timeout + ": use a duration that is not negative");
        }
        return clock.await(clock, condition, clock.nanoTime() + timeout.toNanos());
    }
}
