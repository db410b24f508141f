package io.rdma4j.soft.host;

/**
 * Drives the engines of a virtual network in virtual time, in place of threads. A stack that has a driver starts no threads, and a
 * thread that waits runs the driver.
 */
public interface StackDriver {
    /**
     * Lets each engine of the network run a duty cycle. If none received a frame, advances the clock to the next deadline of
     * an engine, but not beyond {@code limitNanos}.
     *
     * @param limitNanos a time of the network's clock, or {@link Long#MAX_VALUE}
     * @throws IllegalStateException if no engine has a deadline and there is no limit: nothing would ever happen again
     */
    void step(long limitNanos);
}
