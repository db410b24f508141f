package io.rdma4j.link.decorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FaultSpecTest {
    @Test
    void allFaultsAreParsed() {
        assertThat(FaultSpec.parse("loss=1%,dup=0.5%,reorder=0.25,corrupt=1e-3,delay=5ms,rate=10Gbit,seed=-7"))
                .isEqualTo(new FaultSpec(0.01, 0.005, 0.25, 0.001, 5_000_000, 10_000_000_000L, -7));
    }

    @Test
    void unnamedFaultsAreOff() {
        assertThat(FaultSpec.parse("loss=100%")).isEqualTo(new FaultSpec(1, 0, 0, 0, 0, 0, 1));
        assertThat(FaultSpec.parse("seed=3")).isEqualTo(new FaultSpec(0, 0, 0, 0, 0, 0, 3));
    }

    @ParameterizedTest
    @CsvSource({"7ns,7", "1.5us,1500", "2µs,2000", "0.25ms,250000", "1s,1000000000", "5MS,5000000"})
    void delaysHaveUnits(String text, long nanos) {
        assertThat(FaultSpec.parse("delay=" + text).delayNanos()).isEqualTo(nanos);
    }

    @ParameterizedTest
    @CsvSource({"10kbit,10000", "2.5Mbit,2500000", "100GBIT,100000000000"})
    void ratesHaveUnits(String text, long bitsPerSecond) {
        assertThat(FaultSpec.parse("rate=" + text).bitsPerSecond()).isEqualTo(bitsPerSecond);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "loss",
                "loss=",
                "=1%",
                "loss=x",
                "loss=101%",
                "loss=1.5",
                "loss=-1%",
                "loss=NaN",
                "jam=1%",
                "loss=1%,",
                "loss=1%,loss=2%",
                "delay=5",
                "delay=ms",
                "delay=1.2.3ms",
                "delay=2000000s",
                "rate=5",
                "rate=1kbit",
                "rate=2000Gbit",
                "rate=1.2.3Gbit",
                "seed=1.5",
                "loss=1% dup=1%",
                "delay=-5ms",
                "seed="
            })
    void malformedTextIsRejectedWithTheSyntax(String text) {
        assertThatThrownBy(() -> FaultSpec.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'")
                .hasMessageContaining(FaultSpec.SYNTAX);
    }
}
