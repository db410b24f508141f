package io.rdma4j.soft.report;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The encoding of the parts of a report. Reading checks all lengths. */
final class ReportFormat {
    private static final int MAX_TEXT = 1000;
    private static final int MAX_COUNTERS = 1000;

    private ReportFormat() {}

    /** Reads an element of a list. */
    @FunctionalInterface
    interface Reader<T> {
        T read(DataInput in) throws IOException;
    }

    static void writeText(DataOutput out, String text) throws IOException {
        out.writeUTF(text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text);
    }

    static String readText(DataInput in) throws IOException {
        String text = in.readUTF();
        if (text.length() > MAX_TEXT) {
            throw new IOException("a text of the report has " + text.length() + " characters");
        }
        return text;
    }

    static void writeCounters(DataOutput out, Map<String, Long> counters) throws IOException {
        out.writeInt(counters.size());
        for (Map.Entry<String, Long> counter : counters.entrySet()) {
            writeText(out, counter.getKey());
            out.writeLong(counter.getValue());
        }
    }

    static Map<String, Long> readCounters(DataInput in) throws IOException {
        int count = readCount(in, MAX_COUNTERS);
        Map<String, Long> counters = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            counters.put(readText(in), in.readLong());
        }
        return counters;
    }

    static <T> List<T> readList(DataInput in, int maximum, Reader<T> reader) throws IOException {
        int count = readCount(in, maximum);
        List<T> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(reader.read(in));
        }
        return list;
    }

    private static int readCount(DataInput in, int maximum) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > maximum) {
            throw new IOException("a list of the report has " + count + " elements, not 0 to " + maximum);
        }
        return count;
    }
}
