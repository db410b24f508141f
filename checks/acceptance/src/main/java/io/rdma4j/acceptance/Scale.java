package io.rdma4j.acceptance;

/** The size of a test run. */
public enum Scale {
    /** The quick form, which CI runs: the same checks over fewer bytes, seeds or rounds, in seconds to a minute. */
    QUICK,
    /** The full form. */
    FULL;

    /** Returns the number for this scale. */
    public int of(int quick, int full) {
        return this == FULL ? full : quick;
    }

    /** Returns the number for this scale. */
    public long of(long quick, long full) {
        return this == FULL ? full : quick;
    }
}
