package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the figures of the socket tools match C. */
class TransferFiguresTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "64, 64",
        "1536, 1.5k",
        "5000, 4.8k",
        "10000, 9.7k",
        "4096, 4k",
        "1048576, 1m",
        "2000000, 1.9m",
        "12800000, 12m",
        "209715200, 200m",
        "1572864000, 1.4g"
    })
    void sizesAreTruncated(long bytes, String text) {
        assertThat(TransferFigures.sizeText(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "999, 999", "1000, 1k", "100000, 100k", "1999999, 1m", "2000000000, 2b"})
    void countsAreTruncatedToWholeUnits(long count, String text) {
        assertThat(TransferFigures.countText(count)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "63, 100000",
        "1023, 100000",
        "1024, 10000",
        "65535, 10000",
        "65536, 1000",
        "1048575, 1000",
        "1048576, 100"
    })
    void largerTransfersAreFewer(int size, int count) {
        assertThat(TransferFigures.countOf(size)).isEqualTo(count);
    }

    @Test
    void aSeriesHas33SizesAnd4ByDefault() {
        assertThat(StreamTest.sizes(true))
                .hasSize(33)
                .startsWith(64, 128, 192, 256, 384)
                .endsWith(4 << 20, 6 << 20)
                .isSorted();
        assertThat(StreamTest.sizes(false)).isEqualTo(List.of(64, 4096, 65_536, 1_048_576));
    }

    @Test
    void numbersAreRoundedAsInC() {
        assertThat(TransferFigures.twoDecimals(0.125)).isEqualTo("0.12");
        assertThat(TransferFigures.twoDecimals(0.375)).isEqualTo("0.38");
        assertThat(TransferFigures.twoDecimals(2.675)).isEqualTo("2.67");
        assertThat(TransferFigures.twoDecimals(0)).isEqualTo("0.00");
        assertThat(TransferFigures.twoDecimals(Double.POSITIVE_INFINITY)).isEqualTo("inf");
        assertThat(TransferFigures.twoDecimals(Double.NaN)).isEqualTo("-nan");
    }

    @Test
    void rowsMatchC() {
        assertThat(TransferFigures.HEADER)
                .isEqualTo("name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer");
        assertThat(StreamTest.latency(64).row(2_678_000))
                .isEqualTo("64_lat    64      1       100k    12m         2.68s      0.04      13.39");
        assertThat(StreamTest.bandwidth(65_536).row(26_820))
                .isEqualTo("64k_bw    64k     1k      1       125m        0.03s     39.10      13.41");
        assertThat(StreamTest.bandwidth(1536).name()).isEqualTo("1.5k_bw");
        assertThat(StreamTest.latency(1536).name()).isEqualTo("1.5k_lat");
    }
}
