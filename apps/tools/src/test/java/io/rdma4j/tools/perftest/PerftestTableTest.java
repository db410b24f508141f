package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines of the tables, as perftest 4.5 prints them. */
class PerftestTableTest {
    private static LatencyFigures latencies() {
        return new LatencyFigures(100, 3041.2, 4048.66, 3999.69, 3988.16, 97.22, 4048.66, 4048.66);
    }

    @Test
    void headsMatchPerftest() {
        assertThat(PerftestTable.LINE)
                .isEqualTo(
                        "-----------------------------------------------------------------------------" + "----------");
        assertThat(PerftestTable.latencyHead(false))
                .isEqualTo(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
                        + "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ");
        assertThat(PerftestTable.latencyHead(true))
                .isEqualTo(" #bytes        #iterations       t_avg[usec]    tps average");
        assertThat(PerftestTable.bandwidthHead(false))
                .isEqualTo(" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]");
        assertThat(PerftestTable.bandwidthHead(true))
                .isEqualTo(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]");
    }

    @Test
    void latencyRowsMatchPerftest() {
        assertThat(PerftestTable.latency(2, latencies()))
                .isEqualTo(" 2       100          3041.20        4048.66      3999.69  \t       3988.16     \t97.22  "
                        + "\t\t4048.66 \t\t4048.66");
        assertThat(PerftestTable.timedLatency(2, 1234, 2.5, 400000))
                .isEqualTo(" 2             1234            2.50           400000.00");
    }

    @Test
    void bandwidthRowsMatchPerftest() {
        assertThat(PerftestTable.bandwidth(new BandwidthFigures(65536, 1000, 79.11, 52.28, 0.000837), false))
                .isEqualTo(" 65536      1000             79.11              52.28  \t\t   0.000837");
        assertThat(PerftestTable.bandwidth(new BandwidthFigures(2, 5000, 0, 1.5, 1.25), true))
                .isEqualTo(" 2          5000             0.00               1.50   \t\t   1.250000");
    }

    @Test
    void smallGigabitsGetMoreDigits() {
        assertThat(PerftestTable.bandwidth(new BandwidthFigures(2, 5000, 0.05, 0.04, 1.25), true))
                .isEqualTo(" 2          5000           0.050000            0.040000            1.250000");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "2.5, 2.5",
        "0.5, 0.5",
        "123456, 123456",
        "1234567, 1.23457e+06",
        "0.0001, 0.0001",
        "0.00001234567, 1.23457e-05",
        "3.14159265, 3.14159",
        "100, 100",
        "-2.5, -2.5",
        "1e100, 1e+100"
    })
    void samplesAreFormattedAsInC(double value, String text) {
        assertThat(PerftestTable.general(value)).isEqualTo(text);
    }

    @Test
    void hexadecimalNumbersHaveTheWidthOfC() {
        assertThat(PerftestTable.hexadecimal(0, 4)).isEqualTo("0000");
        assertThat(PerftestTable.hexadecimal(16, 4)).isEqualTo("0x10");
        assertThat(PerftestTable.hexadecimal(0x13, 6)).isEqualTo("0x0013");
        assertThat(PerftestTable.hexadecimal(0x905785, 6)).isEqualTo("0x905785");
        assertThat(PerftestTable.hexadecimal(0x7f0000001000L, 16)).isEqualTo("0x007f0000001000");
    }
}
