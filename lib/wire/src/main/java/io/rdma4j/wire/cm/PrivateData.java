package io.rdma4j.wire.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An immutable sequence of bytes in a CM message: the application's private data, or the additional information of a
 * reject.
 *
 * <p>On the wire such a field has the fixed length of its message type, and is padded with zeros. A message holds it at
 * that length. Two instances are equal if their bytes are equal.
 */
public final class PrivateData {
    /** No bytes. */
    public static final PrivateData EMPTY = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Creates private data from a copy of {@code bytes}. */
    public static PrivateData of(byte... bytes) {
        return new PrivateData(bytes.clone());
    }

    /** Creates private data from a copy of {@code length} bytes of a segment, which must hold them. */
    public static PrivateData read(MemorySegment s, long at, int length) {
        return new PrivateData(s.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Returns the number of bytes. */
    public int length() {
        return bytes.length;
    }

    /** Returns a copy of the bytes. */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    /** Returns the bytes from {@code from} to the end, for example those after a header. */
    public PrivateData from(int from) {
        return new PrivateData(Arrays.copyOfRange(bytes, from, bytes.length));
    }

    /**
     * Returns these bytes, padded with zeros.
     *
     * @param length the new length
     * @throws IllegalArgumentException if there are more than {@code length} bytes
     */
    public PrivateData padded(int length) {
        if (bytes.length == length) {
            return this;
        }
        if (bytes.length > length) {
            throw new IllegalArgumentException(
                    "private data of " + bytes.length + " bytes, but the field holds at most " + length);
        }
        return new PrivateData(Arrays.copyOf(bytes, length));
    }

    /** Returns these bytes, followed by those of {@code other}. */
    public PrivateData plus(PrivateData other) {
        byte[] joined = Arrays.copyOf(bytes, bytes.length + other.bytes.length);
        System.arraycopy(other.bytes, 0, joined, bytes.length, other.bytes.length);
        return new PrivateData(joined);
    }

    /** Writes the bytes to a segment. */
    public void write(MemorySegment s, long at) {
        MemorySegment.copy(bytes, 0, s, ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    /** Returns a read-only view of the bytes. */
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

    /** Returns the bytes in hexadecimal, up to the last nonzero one. */
    @Override
    public String toString() {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] == 0) {
            end--;
        }
        return HexFormat.of().formatHex(bytes, 0, end);
    }
}
