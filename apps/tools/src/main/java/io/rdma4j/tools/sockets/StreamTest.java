package io.rdma4j.tools.sockets;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A test: a number of iterations, each with a number of transfers to the server and the same number back.
 *
 * @param name the name in the table
 * @param sizeBytes the size of a transfer in bytes
 * @param transfers the number of transfers in one direction before the direction changes
 * @param iterations the number of repetitions of both directions
 */
record StreamTest(String name, int sizeBytes, int transfers, int iterations) {
    private static final int SMALLEST_BYTES = 64;
    private static final int LARGEST_BYTES = 6 << 20;
    private static final int PACKET_BYTES = 4096;

    /** The characters of a size in the name of a test, as in C. A name has up to nine characters. */
    private static final int SIZE_CHARACTERS = 4;

    private static final int NAME_CHARACTERS = 9;

    /**
     * Returns the sizes of a series. The short series has 64 bytes, 4 KiB, 64 KiB and 1 MiB. The full series has all
     * powers of two from 64 bytes to 4 MiB and, from 128 bytes on, also 1.5 times each.
     */
    static List<Integer> sizes(boolean all) {
        if (!all) {
            return List.of(SMALLEST_BYTES, 1 << 12, 1 << 16, 1 << 20);
        }
        List<Integer> sizes = new ArrayList<>();
        sizes.add(SMALLEST_BYTES);
        for (int size = 2 * SMALLEST_BYTES; size + size / 2 <= LARGEST_BYTES; size *= 2) {
            sizes.add(size);
            sizes.add(size + size / 2);
        }
        return sizes;
    }

    /** Creates a latency test: one transfer in each direction at a time. */
    static StreamTest latency(int sizeBytes) {
        return new StreamTest(name(sizeBytes, "_lat"), sizeBytes, 1, TransferFigures.countOf(sizeBytes));
    }

    /** Creates a bandwidth test: all transfers to the server, then all back. */
    static StreamTest bandwidth(int sizeBytes) {
        return new StreamTest(name(sizeBytes, "_bw"), sizeBytes, TransferFigures.countOf(sizeBytes), 1);
    }

    /**
     * Returns this test with fewer transfers.
     *
     * @param packets the approximate maximum number of packets in one direction
     */
    StreamTest shortened(long packets) {
        int most = Math.clamp(packets / (1 + sizeBytes / PACKET_BYTES), 1, Integer.MAX_VALUE);
        return new StreamTest(name, sizeBytes, Math.min(transfers, most), Math.min(iterations, most));
    }

    private static String name(int sizeBytes, String kind) {
        String size = TransferFigures.sizeText(sizeBytes);
        String name = size.substring(0, Math.min(SIZE_CHARACTERS, size.length())) + kind;
        return name.substring(0, Math.min(NAME_CHARACTERS, name.length()));
    }

    private long totalBytes() {
        // In 64 bits, as in C.
        return (long) iterations * transfers * sizeBytes * 2;
    }

    /** Returns the row of the table. */
    String row(long micros) {
        float usec = micros;
        return TransferFigures.left(10, name)
                + TransferFigures.left(8, TransferFigures.sizeText(sizeBytes))
                + TransferFigures.left(8, TransferFigures.countText(transfers))
                + TransferFigures.left(8, TransferFigures.countText(iterations))
                + TransferFigures.left(8, TransferFigures.sizeText(totalBytes()))
                + TransferFigures.right(8, TransferFigures.twoDecimals(usec / 1e6))
                + "s"
                + TransferFigures.right(10, TransferFigures.twoDecimals(gigabitsPerSecond(usec)))
                + TransferFigures.right(11, TransferFigures.twoDecimals(microsPerTransfer(usec)));
    }

    private double gigabitsPerSecond(float micros) {
        return totalBytes() * 8 / (1000.0 * micros);
    }

    private float microsPerTransfer(float micros) {
        return micros / iterations / (transfers * 2);
    }

    /** Returns the row of the JSON report. */
    Map<String, @Nullable Object> report(long micros) {
        Map<String, @Nullable Object> report = new LinkedHashMap<>();
        report.put("name", name);
        report.put("sizeBytes", sizeBytes);
        report.put("transfers", transfers);
        report.put("iterations", iterations);
        report.put("totalBytes", totalBytes());
        report.put("elapsedSeconds", micros / 1e6);
        report.put("gigabitsPerSecond", micros == 0 ? null : gigabitsPerSecond((float) micros));
        report.put(
                "microsecondsPerTransfer",
                transfers == 0 || iterations == 0 ? null : (double) microsPerTransfer((float) micros));
        return report;
    }
}
