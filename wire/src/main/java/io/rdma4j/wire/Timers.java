package io.rdma4j.wire;

/**
 * The time codes of the protocol, in nanoseconds. A code has a few bits and stands for a power of two, or for a step
 * between two; where a receiver finds more bits set than the field has, only the field's count.
 */
public final class Timers {
    /** Codes of {@link #rnrNakDelayNanos} and exponents of the other timers: five bits. */
    public static final int CODE_MASK = 31;

    private static final long RNR_UNIT_NANOS = 10_000;
    private static final long TIMEOUT_UNIT_NANOS = 4_096;
    private static final long NANOS_PER_MILLISECOND = 1_000_000;

    private Timers() {}

    /**
     * How long a requester waits after a receiver-not-ready NAK with this timer code: 0.01 ms for code 1 to 491.52 ms for
     * code 31, and 655.36 ms for code 0. Source: InfiniBand Architecture volume 1, 9.7.5.2.8, table 45. C counterpart:
     * {@code min_rnr_timer} of {@code ibv_modify_qp}.
     *
     * @param code timer code; bits above the lowest five are ignored
     */
    public static long rnrNakDelayNanos(int code) {
        int field = code & CODE_MASK;
        // Two codes per doubling: 2^k for an even one, half as much again for the odd one after it; code 0 is the 33rd.
        int step = field == 0 ? CODE_MASK + 1 : field;
        long power = 1L << (step >> 1);
        long units = (step & 1) == 0 ? power : power * 3 >> 1;
        return units * RNR_UNIT_NANOS;
    }

    /** The code of the shortest delay that is at least {@code nanos}; code 0, the longest, where none is. */
    public static int rnrNakDelayCode(long nanos) {
        for (int code = 1; code <= CODE_MASK; code++) {
            if (rnrNakDelayNanos(code) >= nanos) {
                return code;
            }
        }
        return 0;
    }

    /**
     * The local acknowledgement timeout of a queue pair: 4.096 us &times; 2<sup>exponent</sup>, from 8.192 us to about 2.4
     * hours; exponent 0 means no timeout. Source: InfiniBand Architecture volume 1, 9.7.6.1.3. C counterpart:
     * {@code timeout} of {@code ibv_modify_qp}.
     *
     * @param exponent five bits; bits above are ignored
     * @return the timeout, or {@link Long#MAX_VALUE} for exponent 0
     */
    public static long acknowledgeTimeoutNanos(int exponent) {
        int field = exponent & CODE_MASK;
        return field == 0 ? Long.MAX_VALUE : TIMEOUT_UNIT_NANOS << field;
    }

    /** The exponent, 1 to 31, of the shortest acknowledgement timeout that is at least {@code nanos}; 31 where none is. */
    public static int acknowledgeTimeoutExponent(long nanos) {
        for (int exponent = 1; exponent < CODE_MASK; exponent++) {
            if (acknowledgeTimeoutNanos(exponent) >= nanos) {
                return exponent;
            }
        }
        return CODE_MASK;
    }

    /**
     * A CM timeout: 2<sup>exponent-8</sup> ms, and 1 ms for exponents up to 8. The specification says 4.096 us &times;
     * 2<sup>exponent</sup>, five hundredths more; Linux counts this way and so do its peers. Used by CM response
     * timeouts, MRA service timeouts and the packet life time. Source: InfiniBand Architecture volume 1, 12.7.
     *
     * @param exponent five bits; bits above are ignored
     */
    public static long cmTimeoutNanos(int exponent) {
        int field = exponent & CODE_MASK;
        return (1L << Math.max(field - 8, 0)) * NANOS_PER_MILLISECOND;
    }
}
