package io.rdma4j.wire;

/**
 * Conversions between the time codes of the protocol and nanoseconds. A code has five bits and encodes a power of two,
 * or a step between two powers. Bits above the five are ignored.
 */
public final class Timers {
    /** Mask of the five bits of RNR timer codes and of the exponents of the other timers. */
    public static final int CODE_MASK = 31;

    private static final long RNR_UNIT_NANOS = 10_000;
    private static final long TIMEOUT_UNIT_NANOS = 4_096;
    private static final long NANOS_PER_MILLISECOND = 1_000_000;

    private Timers() {}

    /**
     * Returns the RNR back-off of a requester for a timer code. It ranges from 0.01 ms for code 1 to 491.52 ms for code
     * 31, and is 655.36 ms for code 0. Source: InfiniBand Architecture volume 1, 9.7.5.2.8, table 45. C counterpart:
     * {@code min_rnr_timer} of {@code ibv_modify_qp}.
     *
     * @param code timer code; bits above the lowest five are ignored
     */
    public static long rnrNakDelayNanos(int code) {
        int field = code & CODE_MASK;
        // Two codes per doubling: 2^k for an even code, 1.5 * 2^k for the odd code after it. Code 0 is treated as 32.
        int step = field == 0 ? CODE_MASK + 1 : field;
        long power = 1L << (step >> 1);
        long units = (step & 1) == 0 ? power : power * 3 >> 1;
        return units * RNR_UNIT_NANOS;
    }

    /** Returns the code of the shortest delay of at least {@code nanos}, or code 0, the longest, if there is none. */
    public static int rnrNakDelayCode(long nanos) {
        for (int code = 1; code <= CODE_MASK; code++) {
            if (rnrNakDelayNanos(code) >= nanos) {
                return code;
            }
        }
        return 0;
    }

    /**
     * Returns the local acknowledgement timeout of a queue pair: 4.096 us &times; 2<sup>exponent</sup>, from 8.192 us
     * to about 2.4 hours. Exponent 0 means no timeout. Source: InfiniBand Architecture volume 1, 9.7.6.1.3. C
     * counterpart: {@code timeout} of {@code ibv_modify_qp}.
     *
     * @param exponent five bits; higher bits are ignored
     * @return the timeout, or {@link Long#MAX_VALUE} for exponent 0
     */
    public static long acknowledgeTimeoutNanos(int exponent) {
        int field = exponent & CODE_MASK;
        return field == 0 ? Long.MAX_VALUE : TIMEOUT_UNIT_NANOS << field;
    }

    /**
     * Returns the exponent, 1 to 31, of the shortest acknowledgement timeout of at least {@code nanos}, or 31 if there
     * is none.
     */
    public static int acknowledgeTimeoutExponent(long nanos) {
        for (int exponent = 1; exponent < CODE_MASK; exponent++) {
            if (acknowledgeTimeoutNanos(exponent) >= nanos) {
                return exponent;
            }
        }
        return CODE_MASK;
    }

    /**
     * Returns a CM timeout: 2<sup>exponent-8</sup> ms, and 1 ms for exponents up to 8. The specification defines it as
     * 4.096 us &times; 2<sup>exponent</sup>, about 5 % more. This method follows Linux. CM response timeouts, MRA
     * service timeouts and the packet life time use this encoding. Source: InfiniBand Architecture volume 1, 12.7.
     *
     * @param exponent five bits; higher bits are ignored
     */
    public static long cmTimeoutNanos(int exponent) {
        int field = exponent & CODE_MASK;
        return (1L << Math.max(field - 8, 0)) * NANOS_PER_MILLISECOND;
    }
}
