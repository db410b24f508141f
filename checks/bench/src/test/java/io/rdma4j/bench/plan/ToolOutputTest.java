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
    void rstreamWithoutOptionsPrintsATable() {
        assertThat(ToolOutput.rstreamTable("""
            name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer
            64_lat    64      1       100k    12m         0.72s      0.14       3.61
            64k_lat   64k     1       1k      125m        0.05s     20.00      26.21
            64k_bw    64k     1k      1       125m        0.06s     16.80      31.20
            """)).containsEntry("64_lat", 3.61).containsEntry("64k_bw", 2.1);
    }

    @Test
    void perftestPrintsAnAverage() {
        assertThat(ToolOutput.perftest("""
             #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99%
             2       1000          6.10           90.2         6.70               11.60          2.1             30.0
            ---------------------------------------------------------------------------------------
            """)).containsEntry("meanMicros", 11.6);
        assertThat(ToolOutput.perftest("""
             #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
             65536      5000             2100.00            2000.00            0.032
            """)).containsEntry("gigabytesPerSecond", 2.097152);
    }

    @Test
    void javaPrintsTheTimeOfItsCompilers() {
        assertThat(ToolOutput.compilerTime("  Total compilation time   :   3.301 s\n"))
                .containsEntry("compilerSeconds", 3.301);
    }

    @Test
    void missingValuesAreNan() {
        assertThat(ToolOutput.perftest("")).containsValue(Double.NaN);
        assertThat(ToolOutput.compilerTime("")).containsValue(Double.NaN);
        assertThat(ToolOutput.rstream("rconnect: Connection refused\n")).containsValue(Double.NaN);
        assertThat(ToolOutput.ucxPerftest("")).containsValue(Double.NaN);
        assertThat(ToolOutput.qperfLatency("")).containsValue(Double.NaN);
        assertThat(ToolOutput.fiPingpong("[error] no data\n")).containsValue(Double.NaN);
    }
}
