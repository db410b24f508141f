package io.rdma4j.transport;

/** The two times of a reliable connection that travel as codes. */
final class RcTimers {
    private static final long RNR_UNIT_NANOS = 10_000;

    /** Waiting time by code, in units of 10 µs. Source: InfiniBand Architecture volume 1, table 45. */
    private static final int[] RNR_UNITS = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    private RcTimers() {}

    /** Time until an answer counts as lost: 4.096 µs · 2<sup>exponent</sup>; 0 stands for never and gives 0. */
    static long retransmitNanos(int exponent) {
        return exponent == 0 ? 0 : 4096L << exponent;
    }

    /** Time to wait after a receiver-not-ready answer with a timer code from 0 to 31. */
    static long rnrNanos(int code) {
        return RNR_UNITS[code & 31] * RNR_UNIT_NANOS;
    }
}
