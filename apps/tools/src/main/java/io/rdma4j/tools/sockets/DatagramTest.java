package io.rdma4j.tools.sockets;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A test of udpong.
 *
 * @param name the name in the table
 * @param sizeBytes the size of a datagram in bytes
 * @param count the number of datagrams that the client sends
 * @param isEcho true if each datagram is echoed before the next is sent
 */
record DatagramTest(String name, int sizeBytes, int count, boolean isEcho) {
    private static final int SMALLEST_BYTES = 64;
    private static final int LARGEST_BYTES = 1536;
    private static final int LATENCY_SHARE = 10;

    /**
     * Returns the latency or bandwidth tests for sizes from 64 to 1536 bytes: powers of two, and 1.5 times powers of
     * two.
     */
    static List<DatagramTest> series(boolean latencies) {
        return java.util.stream.Stream.of(SMALLEST_BYTES, 128, 192, 256, 384, 512, 768, 1024, LARGEST_BYTES)
                .map(size -> of(size, latencies))
                .toList();
    }

    /** Returns this test with at most the given number of datagrams. */
    DatagramTest shortened(int most) {
        return new DatagramTest(name, sizeBytes, Math.min(count, most), isEcho);
    }

    private static DatagramTest of(int sizeBytes, boolean isEcho) {
        int count = TransferFigures.countOf(sizeBytes);
        return new DatagramTest(
                TransferFigures.sizeText(sizeBytes) + (isEcho ? "_lat" : "_bw"),
                sizeBytes,
                isEcho ? count / LATENCY_SHARE : count,
                isEcho);
    }

    /** Returns the number of transfers, given the number of datagrams that the server counted. */
    int arrived(int counted) {
        return isEcho ? count * 2 : counted;
    }

    /** Returns the row of the table. */
    String row(int counted, long micros) {
        int transfers = arrived(counted);
        long bytes = (long) transfers * sizeBytes;
        float usec = micros;
        return TransferFigures.left(10, name)
                + TransferFigures.left(8, TransferFigures.sizeText(sizeBytes))
                + TransferFigures.left(8, TransferFigures.countText(transfers))
                + TransferFigures.left(8, TransferFigures.sizeText(bytes))
                + TransferFigures.right(8, TransferFigures.twoDecimals(usec / 1e6))
                + "s"
                + TransferFigures.right(10, TransferFigures.twoDecimals(bytes * 8 / (1000.0 * usec)))
                + TransferFigures.right(11, TransferFigures.twoDecimals(usec / transfers));
    }

    /** Returns the row of the JSON report. */
    Map<String, @Nullable Object> report(int counted, long micros, long repeated) {
        int transfers = arrived(counted);
        long bytes = (long) transfers * sizeBytes;
        Map<String, @Nullable Object> report = new LinkedHashMap<>();
        report.put("name", name);
        report.put("sizeBytes", sizeBytes);
        report.put("echo", isEcho);
        report.put("sent", count);
        report.put("counted", counted);
        report.put("repeated", repeated);
        report.put("transfers", transfers);
        report.put("totalBytes", bytes);
        report.put("elapsedSeconds", micros / 1e6);
        report.put("gigabitsPerSecond", micros == 0 ? null : bytes * 8 / (1000.0 * micros));
        report.put("microsecondsPerTransfer", transfers == 0 ? null : (double) micros / transfers);
        return report;
    }
}
