package io.rdma4j.tools;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Hands on what is printed, and remembers the end of it. Thread safe. */
final class LastWords extends OutputStream {
    private static final int MOST_BYTES = 2048;

    private final PrintStream inner;
    private final byte[] ring = new byte[MOST_BYTES];
    private long written;

    /** Hands on to a stream. */
    LastWords(PrintStream inner) {
        this.inner = inner;
    }

    /** A stream to print to. */
    PrintStream stream() {
        return new PrintStream(this, true, StandardCharsets.UTF_8);
    }

    @Override
    public synchronized void write(int oneByte) {
        inner.write(oneByte);
        remember((byte) oneByte);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
        inner.write(bytes, offset, length);
        for (int i = Math.max(0, length - MOST_BYTES); i < length; i++) {
            remember(bytes[offset + i]);
        }
    }

    private void remember(byte next) {
        ring[(int) (written++ % MOST_BYTES)] = next;
    }

    @Override
    public synchronized void flush() {
        inner.flush();
    }

    /** The last lines, whole ones if there are any, without white space around them. */
    synchronized String text() {
        int kept = (int) Math.min(written, MOST_BYTES);
        byte[] bytes = new byte[kept];
        for (int i = 0; i < kept; i++) {
            bytes[i] = ring[(int) ((written - kept + i) % MOST_BYTES)];
        }
        String text = new String(bytes, StandardCharsets.UTF_8).strip();
        return written > MOST_BYTES ? text.substring(text.indexOf('\n') + 1) : text;
    }
}
