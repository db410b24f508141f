package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LatencyMeterTest {
    @Test
    void timesOfTheWarmUpAreDiscarded() {
        LatencyMeter meter =
                new LatencyMeter(Parameters.of("warmUpMillis", 0, "longestWarmUpMillis", 0, "measureMillis", 60_000));
        assertThat(meter.next()).isNotEqualTo(LatencyMeter.LAST);
        meter.done(); // the first poll: the warm-up is over
        assertThat(meter.times().getTotalCount()).isZero();
        assertThat(meter.next()).isNotEqualTo(LatencyMeter.LAST);
        meter.done();
        assertThat(meter.times().getTotalCount()).isEqualTo(1);
    }

    @Test
    void pingAfterTheTimeIsUpHasTheLastStamp() {
        LatencyMeter meter =
                new LatencyMeter(Parameters.of("warmUpMillis", 0, "longestWarmUpMillis", 0, "measureMillis", 0));
        byte first = meter.next();
        meter.done();
        assertThat(first).isNotEqualTo(LatencyMeter.LAST);
        assertThat(meter.next()).isEqualTo(LatencyMeter.LAST);
    }

    @Test
    void firstSecondsHaveNoPercentiles() {
        LatencyMeter meter = new LatencyMeter(Parameters.of("firstSeconds", 1));
        assertThat(meter.next()).isNotEqualTo(LatencyMeter.LAST);
        meter.done();
        assertThatThrownBy(meter::times).hasMessageContaining("first seconds");
    }
}
