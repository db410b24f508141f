package io.rdma4j.soft.engine;

/**
 * Decides when a thread that polls without success yields its processor. A peer on the same host may wait for that
 * processor, or a compiler of the Java virtual machine, without which both stay slow (decision 045). Under the engine
 * lock.
 */
final class YieldPolicy {
    /**
     * The time without input after which a thread yields. Less time passes between two bursts of a transfer over the loopback
     * interface.
     */
    static final long AFTER_NANOS = 100_000;

    /** The number of polls for each yield, which costs more than a poll. */
    static final int INTERVAL_POLLS = 8;

    private long lastInputNanos;
    private int polls;

    YieldPolicy(long nowNanos) {
        lastInputNanos = nowNanos;
    }

    /** Notes a poll, and returns whether its thread yields after it. */
    boolean yieldsAfter(boolean hasReceived, long nowNanos) {
        if (hasReceived) {
            lastInputNanos = nowNanos;
            return false;
        }
        return ++polls % INTERVAL_POLLS == 0 && nowNanos - lastInputNanos > AFTER_NANOS;
    }
}
