package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TimersTest {
    /**
     * Hundredths of a millisecond by code. Source: InfiniBand Architecture volume 1, table 45; Linux rxe uses the same
     * values.
     */
    private static final int[] RNR_TABLE = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    @Test
    void rnrDelaysMatchTheTableOfTheSpecification() {
        for (int code = 0; code < 32; code++) {
            assertThat(Timers.rnrNakDelayNanos(code)).as("code %d", code).isEqualTo(RNR_TABLE[code] * 10_000L);
            assertThat(Timers.rnrNakDelayNanos(code | 0x20)).isEqualTo(RNR_TABLE[code] * 10_000L);
        }
    }

    @Test
    void rnrCodeSelectsTheShortestSufficientDelay() {
        assertThat(Timers.rnrNakDelayCode(0)).isEqualTo(1);
        assertThat(Timers.rnrNakDelayCode(10_000)).isEqualTo(1);
        assertThat(Timers.rnrNakDelayCode(10_001)).isEqualTo(2);
        assertThat(Timers.rnrNakDelayCode(491_520_000)).isEqualTo(31);
        assertThat(Timers.rnrNakDelayCode(491_520_001)).isZero();
        assertThat(Timers.rnrNakDelayCode(Long.MAX_VALUE)).isZero();
        for (int code = 0; code < 32; code++) {
            assertThat(Timers.rnrNakDelayCode(Timers.rnrNakDelayNanos(code))).isEqualTo(code);
        }
    }

    @Test
    void acknowledgeTimeoutsDouble() {
        assertThat(Timers.acknowledgeTimeoutNanos(0)).isEqualTo(Long.MAX_VALUE);
        assertThat(Timers.acknowledgeTimeoutNanos(1)).isEqualTo(8_192);
        assertThat(Timers.acknowledgeTimeoutNanos(14)).isEqualTo(67_108_864);
        assertThat(Timers.acknowledgeTimeoutNanos(19)).isEqualTo(2_147_483_648L);
        assertThat(Timers.acknowledgeTimeoutNanos(31)).isEqualTo(8_796_093_022_208L);
        assertThat(Timers.acknowledgeTimeoutNanos(32 + 19)).isEqualTo(2_147_483_648L);
    }

    @Test
    void acknowledgeExponentSelectsTheShortestSufficientTimeout() {
        assertThat(Timers.acknowledgeTimeoutExponent(0)).isEqualTo(1);
        assertThat(Timers.acknowledgeTimeoutExponent(Long.MAX_VALUE)).isEqualTo(31);
        for (int exponent = 1; exponent < 31; exponent++) {
            long nanos = Timers.acknowledgeTimeoutNanos(exponent);
            assertThat(Timers.acknowledgeTimeoutExponent(nanos)).isEqualTo(exponent);
            assertThat(Timers.acknowledgeTimeoutExponent(nanos + 1)).isEqualTo(exponent + 1);
        }
    }

    @Test
    void cmTimeoutsAreWholeMilliseconds() {
        for (int exponent = 0; exponent <= 8; exponent++) {
            assertThat(Timers.cmTimeoutNanos(exponent)).isEqualTo(1_000_000);
        }
        assertThat(Timers.cmTimeoutNanos(9)).isEqualTo(2_000_000);
        assertThat(Timers.cmTimeoutNanos(18)).isEqualTo(1_024_000_000L);
        assertThat(Timers.cmTimeoutNanos(20)).isEqualTo(4_096_000_000L);
        assertThat(Timers.cmTimeoutNanos(24)).isEqualTo(65_536_000_000L);
        assertThat(Timers.cmTimeoutNanos(31)).isEqualTo(8_388_608_000_000L);
    }
}
