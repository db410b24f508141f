package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Figures;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Extracts figures from the output of tools. A missing value becomes NaN. */
final class ToolOutput {
    /** Processor time of the compilers of a Java virtual machine, in seconds. */
    static final String COMPILER_SECONDS = "compilerSeconds";

    /** The row 64_lat of rstream, in microseconds. */
    static final String RSTREAM_64_LATENCY = "64_lat";

    /** The row 64k_bw of rstream, in 10⁹ bytes per second. */
    static final String RSTREAM_64K_BANDWIDTH = "64k_bw";

    private static final double MEBIBYTE = 1024 * 1024;

    private ToolOutput() {}

    /** Parses rstream's {@code name bytes xfers iters total time Gb/sec usec/xfer}; one way. */
    static Map<String, Double> rstream(String text) {
        List<String> fields = lastLine(text, "^\\S+\\s+\\d.*$");
        return Map.of(Figures.P50_MICROS, number(fields, 7), Figures.GIGABYTES_PER_SECOND, number(fields, 6) / 8);
    }

    /** Parses the table of rstream without options: the rows 64_lat and 64k_bw. */
    static Map<String, Double> rstreamTable(String text) {
        return Map.of(
                RSTREAM_64_LATENCY,
                number(lastLine(text, "^64_lat\\s.*$"), 7),
                RSTREAM_64K_BANDWIDTH,
                number(lastLine(text, "^64k_bw\\s.*$"), 6) / 8);
    }

    /**
     * Parses the output of perftest's tools for one size: {@code bytes iterations min max typical average …} in
     * microseconds, one way, of the latency tools, and {@code bytes iterations peak average rate} in MiB per second of
     * the bandwidth tools.
     */
    static Map<String, Double> perftest(String text) {
        List<String> fields = lastLine(text, "^\\d+\\s+\\d+\\s+[\\d.]+\\s.*$");
        return fields.size() > 5
                ? Map.of(Figures.MEAN_MICROS, number(fields, 5))
                : Map.of(Figures.GIGABYTES_PER_SECOND, number(fields, 3) * MEBIBYTE / 1e9);
    }

    /** Parses the output of the option {@code -XX:+CITime} of Java: {@code Total compilation time : 2.345 s}. */
    static Map<String, Double> compilerTime(String text) {
        return Map.of(COMPILER_SECONDS, firstMatch(text, "Total compilation time\\s*:\\s*([\\d.]+) s"));
    }

    /**
     * Parses the output of {@code ucx_perftest -f -v}:
     * {@code iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr}; one way, with MB
     * of 2²⁰ bytes.
     */
    static Map<String, Double> ucxPerftest(String text) {
        List<String> fields = lastLine(text.replace(',', ' '), "^\\d[\\d. ]+$");
        return Map.of(
                Figures.P50_MICROS, number(fields, 1),
                Figures.GIGABYTES_PER_SECOND, number(fields, 5) * MEBIBYTE / 1e9,
                Figures.MILLIONS_PER_SECOND, number(fields, 7) / 1e6);
    }

    /** Parses the output of {@code qperf -uu}: {@code latency = 2607 ns}, one way. */
    static Map<String, Double> qperfLatency(String text) {
        return Map.of(Figures.P50_MICROS, firstMatch(text, "latency\\s*=\\s*([\\d.]+) ns") / 1e3);
    }

    /** Parses the output of {@code qperf -uu}: {@code bw = 3169842703 bytes/sec}. */
    static Map<String, Double> qperfBandwidth(String text) {
        return Map.of(Figures.GIGABYTES_PER_SECOND, firstMatch(text, "bw\\s*=\\s*([\\d.]+) bytes/sec") / 1e9);
    }

    /** Parses fi_pingpong's {@code bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec}; one way. */
    static Map<String, Double> fiPingpong(String text) {
        List<String> fields = lastLine(text, "^\\d+k?\\s+\\S+\\s+=?\\S+\\s.*$");
        return Map.of(Figures.P50_MICROS, number(fields, 6), Figures.GIGABYTES_PER_SECOND, number(fields, 5) / 1e3);
    }

    private static List<String> lastLine(String text, String form) {
        Pattern pattern = Pattern.compile(form);
        return text.lines()
                .map(String::strip)
                .filter(line -> pattern.matcher(line).matches())
                .reduce((_, line) -> line)
                .map(line -> List.of(line.split("\\s+")))
                .orElse(List.of());
    }

    private static double number(List<String> fields, int index) {
        try {
            return index < fields.size() ? Double.parseDouble(fields.get(index)) : Double.NaN;
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private static double firstMatch(String text, String form) {
        Matcher matcher = Pattern.compile(form).matcher(text);
        return matcher.find() ? Double.parseDouble(matcher.group(1)) : Double.NaN;
    }
}
