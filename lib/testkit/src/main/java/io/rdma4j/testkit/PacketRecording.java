package io.rdma4j.testkit;

import io.rdma4j.link.decorator.PcapngWriter;
import io.rdma4j.link.decorator.TraceLink;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The last packets of a {@link TestNetwork}, kept in memory: as lines, and as a capture for Wireshark. Thread safe.
 *
 * <p>The recording contains each packet once, with the time when its sender passes it to the network. A packet that the
 * network drops has a second line.
 */
final class PacketRecording {
    /** An estimate of the memory that a packet takes in addition to its bytes. */
    private static final int ENTRY_BYTES = 200;

    private enum Event {
        SENT(" sent "),
        DROPPED(" lost ");

        private final String text;

        Event(String text) {
            this.text = text;
        }
    }

    private record Entry(Event event, long nanos, long epochNanos, Frame frame) {
        String line() {
            return TraceLink.line(nanos, event.text, frame);
        }
    }

    private final long limitBytes;
    private final LongSupplier nanoClock;
    private final LongSupplier epochNanos;
    private final long startNanos;
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private long bytes;
    private long sent;
    private long sentInMemory;

    PacketRecording(long limitBytes, LongSupplier nanoClock, LongSupplier epochNanos) {
        this.limitBytes = limitBytes;
        this.nanoClock = nanoClock;
        this.epochNanos = epochNanos;
        startNanos = nanoClock.getAsLong();
    }

    void onSent(Frame frame) {
        add(Event.SENT, frame);
    }

    void onDropped(Frame frame) {
        add(Event.DROPPED, frame);
    }

    private void add(Event event, Frame frame) {
        Frame copy = new Frame();
        copy.set(frame);
        byte[] content = new byte[frame.length];
        MemorySegment.copy(frame.segment, frame.offset, MemorySegment.ofArray(content), 0, frame.length);
        copy.segment = MemorySegment.ofArray(content);
        copy.buffer = ByteBuffer.wrap(content);
        copy.offset = 0;
        synchronized (this) {
            entries.add(new Entry(event, nanoClock.getAsLong() - startNanos, epochNanos.getAsLong(), copy));
            count(event, copy, 1);
            sent += event == Event.SENT ? 1 : 0;
            while (bytes > limitBytes) {
                Entry oldest = entries.remove();
                count(oldest.event, oldest.frame, -1);
            }
        }
    }

    private void count(Event event, Frame frame, int sign) {
        bytes += sign * (long) (ENTRY_BYTES + frame.length);
        sentInMemory += event == Event.SENT ? sign : 0;
    }

    /** Returns the number of packets that were sent. */
    synchronized long packets() {
        return sent;
    }

    /** Returns the number of the latest packets that are still in memory, which {@link #writeCapture} writes. */
    synchronized long packetsInMemory() {
        return sentInMemory;
    }

    /**
     * Returns the last lines, a line for each packet that was sent or lost: the time in seconds, the addresses, and the
     * contents, in the format of the tools' option {@code --trace}.
     *
     * @param count the maximum number of lines
     */
    synchronized List<String> lastLines(int count) {
        return entries.stream()
                .skip(Math.max(0, entries.size() - count))
                .map(Entry::line)
                .toList();
    }

    /**
     * Writes the packets in memory to a capture for Wireshark, in pcapng format. Replaces the file.
     *
     * @throws IOException if the file cannot be written
     */
    synchronized void writeCapture(Path file) throws IOException {
        long[] time = new long[1];
        try (PcapngWriter writer = PcapngWriter.create(file, () -> time[0])) {
            for (Entry entry : entries) {
                if (entry.event == Event.SENT) {
                    time[0] = entry.epochNanos;
                    writer.write(entry.frame, true);
                }
            }
        }
    }
}
