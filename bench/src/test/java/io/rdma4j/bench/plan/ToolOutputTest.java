package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ToolOutputTest {
    @Test
    void rstreamPrintsTheTimeOfATransfer() {
        Map<String, Double> figures = ToolOutput.rstream("""
            name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer
            custom    64      1       100k    12m         0.72s      0.14       3.61
            """);
        assertThat(figures).containsEntry("p50Micros", 3.61).containsEntry("gigabytesPerSecond", 0.0175);
    }

    @Test
    void ucxPerftestPrintsMedianBandwidthAndRate() {
        Map<String, Double> figures = ToolOutput.ucxPerftest("""
            iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
            20000,1.202,1963.054,370.800,31.84,1000,509,2697
            """);
        assertThat(figures)
                .containsEntry("p50Micros", 1.202)
                .containsEntry("gigabytesPerSecond", 1.048576)
                .containsEntry("millionsPerSecond", 0.002697);
    }

    @Test
    void qperfPrintsFixedUnits() {
        assertThat(ToolOutput.qperfLatency("tcp_lat:\n    latency  =  2607 ns\n"))
                .containsEntry("p50Micros", 2.607);
        assertThat(ToolOutput.qperfBandwidth("tcp_bw:\n    bw  =  3169842703 bytes/sec\n"))
                .containsEntry("gigabytesPerSecond", 3.169842703);
    }

    @Test
    void fiPingpongPrintsTheTimeOfATransfer() {
        assertThat(ToolOutput.fiPingpong("""
            bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
            64      50k     =50k     6.1m        0.61s     10.42       6.14       0.16
            """)).containsEntry("p50Micros", 6.14);
    }

    @Test
    void missingValuesAreNan() {
        assertThat(ToolOutput.rstream("rconnect: Connection refused\n")).containsValue(Double.NaN);
        assertThat(ToolOutput.ucxPerftest("")).containsValue(Double.NaN);
        assertThat(ToolOutput.qperfLatency("")).containsValue(Double.NaN);
        assertThat(ToolOutput.fiPingpong("[error] no data\n")).containsValue(Double.NaN);
    }
}
