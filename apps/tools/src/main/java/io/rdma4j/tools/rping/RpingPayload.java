package io.rdma4j.tools.rping;

import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * The data of a ping: {@code rdma-ping-N: }, then a sequence of ASCII characters, and a zero byte at the end.
 *
 * <p>The sequence cycles from {@code A} to {@code z} and starts one character later with every ping.
 */
final class RpingPayload {
    private static final int FIRST = 'A';
    private static final int LETTERS = 'z' - 'A' + 1;

    private RpingPayload() {}

    /** Fills a buffer with the data of ping number {@code ping}, counted from 0. */
    static void fill(MemorySegment buffer, int ping) {
        byte[] head = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
        int size = Math.toIntExact(buffer.byteSize());
        if (size == 0) {
            return;
        }
        int copied = Math.min(head.length, size - 1);
        MemorySegment.copy(head, 0, buffer, ValueLayout.JAVA_BYTE, 0, copied);
        int letter = Integer.remainderUnsigned(ping, LETTERS);
        for (int i = copied; i < size - 1; i++) {
            buffer.set(ValueLayout.JAVA_BYTE, i, (byte) (FIRST + letter));
            letter = letter + 1 == LETTERS ? 0 : letter + 1;
        }
        buffer.set(ValueLayout.JAVA_BYTE, size - 1L, (byte) 0);
    }

    /** Returns the number of bytes before the first zero byte, or the size if there is none. C: {@code strlen}. */
    static int length(MemorySegment buffer) {
        int size = Math.toIntExact(buffer.byteSize());
        for (int i = 0; i < size; i++) {
            if (buffer.get(ValueLayout.JAVA_BYTE, i) == 0) {
                return i;
            }
        }
        return size;
    }

    /** Prints a line that consists of a prefix and the text in the buffer, byte for byte. */
    static void print(PrintStream out, String prefix, MemorySegment buffer) {
        byte[] text = buffer.asSlice(0, length(buffer)).toArray(ValueLayout.JAVA_BYTE);
        synchronized (out) {
            out.print(prefix);
            out.write(text, 0, text.length);
            out.println();
        }
    }
}
