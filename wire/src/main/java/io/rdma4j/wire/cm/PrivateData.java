package io.rdma4j.wire.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An immutable run of bytes in a CM message: the application's private data, or additional information of a reject.
 *
 * <p>On the wire such a field has the length that its message type gives it, and zeros at its end; a message holds it
 * at that length. Two are equal when their bytes are.
 */
public final class PrivateData {
    /** No bytes. */
    public static final PrivateData EMPTY = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A copy of {@code bytes}. */
    public static PrivateData of(byte... bytes) {
        return new PrivateData(bytes.clone());
    }

    /** A copy of {@code length} bytes of a segment; they must lie in it. */
    public static PrivateData read(MemorySegment s, long at, int length) {
        return new PrivateData(s.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Number of bytes. */
    public int length() {
        return bytes.length;
    }

    /** A copy of the bytes. */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    /** The bytes from {@code from} to the end: what follows a header at the beginning. */
    public PrivateData from(int from) {
        return new PrivateData(Arrays.copyOfRange(bytes, from, bytes.length));
    }

    /**
     * These bytes with zeros behind them.
     *
     * @param length the new length
     * @throws IllegalArgumentException if these are more bytes than {@code length}
     */
    public PrivateData padded(int length) {
        if (bytes.length == length) {
            return this;
        }
        if (bytes.length > length) {
            throw new IllegalArgumentException(
                    "private data of " + bytes.length + " bytes where the message has room for " + length);
        }
        return new PrivateData(Arrays.copyOf(bytes, length));
    }

    /** These bytes and then those of {@code other}. */
    public PrivateData plus(PrivateData other) {
        byte[] joined = Arrays.copyOf(bytes, bytes.length + other.bytes.length);
        System.arraycopy(other.bytes, 0, joined, bytes.length, other.bytes.length);
        return new PrivateData(joined);
    }

    /** Writes the bytes to a segment. */
    public void write(MemorySegment s, long at) {
        MemorySegment.copy(bytes, 0, s, ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    /** A read-only view of the bytes. */
    MemorySegment segment() {
        return MemorySegment.ofArray(bytes).asReadOnly();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The bytes in hexadecimal up to the last that is not zero. */
    @Override
    public String toString() {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] == 0) {
            end--;
        }
        return HexFormat.of().formatHex(bytes, 0, end);
    }
}
