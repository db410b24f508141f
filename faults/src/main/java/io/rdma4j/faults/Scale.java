package io.rdma4j.faults;

/** How much of a test is run. */
public enum Scale {
    /** The quick form: the same checks over fewer bytes, seeds or rounds, seconds to a minute; what CI runs. */
    QUICK,
    /** The whole figure. */
    FULL;

    /** One of two numbers. */
    public int of(int quick, int full) {
        return this == FULL ? full : quick;
    }

    /** One of two numbers. */
    public long of(long quick, long full) {
        return this == FULL ? full : quick;
    }
}
