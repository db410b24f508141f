package io.rdma4j.tools;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** An output stream that forwards to another one and retains the end of the output. Thread safe. */
final class OutputTail extends OutputStream {
    private static final int MAX_BYTES = 2048;

    private final PrintStream inner;
    private final byte[] ring = new byte[MAX_BYTES];
    private long written;

    /** Creates a stream that forwards to {@code inner}. */
    OutputTail(PrintStream inner) {
        this.inner = inner;
    }

    /** Returns a print stream that writes to this stream. */
    PrintStream stream() {
        return new PrintStream(this, true, StandardCharsets.UTF_8);
    }

    @Override
    public synchronized void write(int oneByte) {
        inner.write(oneByte);
        retain((byte) oneByte);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
        inner.write(bytes, offset, length);
        for (int i = Math.max(0, length - MAX_BYTES); i < length; i++) {
            retain(bytes[offset + i]);
        }
    }

    private void retain(byte next) {
        ring[(int) (written++ % MAX_BYTES)] = next;
    }

    @Override
    public synchronized void flush() {
        inner.flush();
    }

    /** Returns the retained lines without surrounding white space. A truncated first line is omitted if possible. */
    synchronized String text() {
        int retained = (int) Math.min(written, MAX_BYTES);
        byte[] bytes = new byte[retained];
        for (int i = 0; i < retained; i++) {
            bytes[i] = ring[(int) ((written - retained + i) % MAX_BYTES)];
        }
        String text = new String(bytes, StandardCharsets.UTF_8).strip();
        return written > MAX_BYTES ? text.substring(text.indexOf('\n') + 1) : text;
    }
}
