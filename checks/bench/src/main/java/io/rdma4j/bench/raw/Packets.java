package io.rdma4j.bench.raw;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.bench.worker.Parameters;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/** The packets of {@link RawStream} in one system call: 28 bytes of header, payload and 4 bytes of CRC each. */
final class Packets {
    private static final int HEADER_BYTES = 28;
    private static final int CRC_BYTES = 4;
    private static final long USER_BYTES = 1 << 20;
    private static final int STAGING_BYTES = 1 << 16;
    private static final int DATAGRAM_LIMIT = 65_507;

    private final int payloadBytes;
    private final int segments;
    private final boolean copy;
    private final boolean crc;
    private final MemorySegment user;
    private final MemorySegment staging;
    private final ByteBuffer stagingBytes;
    private final CRC32 checksum = new CRC32();
    private long userOffset;
    private int sequence;

    Packets(Arena arena, Parameters parameters) {
        payloadBytes = parameters.number("size", 4096);
        segments = parameters.number("segments", 1);
        copy = parameters.flag("copy");
        crc = parameters.flag("crc");
        if ((long) segments * packetBytes() > DATAGRAM_LIMIT) {
            throw new IllegalArgumentException(
                    segments + " packets of " + packetBytes() + " bytes exceed the limit of one call");
        }
        user = arena.allocate(USER_BYTES, 64);
        staging = arena.allocate(STAGING_BYTES, 64);
        stagingBytes = staging.asByteBuffer();
    }

    int payloadBytes() {
        return payloadBytes;
    }

    int segments() {
        return segments;
    }

    int packetBytes() {
        return HEADER_BYTES + payloadBytes + CRC_BYTES;
    }

    /** Returns the memory that a system call sends from or receives into. */
    MemorySegment staging() {
        return staging;
    }

    /** Writes the packets of a call and returns their total length. */
    long fill() {
        long offset = 0;
        for (int i = 0; i < segments; i++) {
            staging.set(JAVA_INT_UNALIGNED, offset, sequence++);
            if (copy) {
                MemorySegment.copy(user, nextUserOffset(), staging, offset + HEADER_BYTES, payloadBytes);
            }
            if (crc) {
                staging.set(JAVA_INT_UNALIGNED, offset + HEADER_BYTES + payloadBytes, checksum(offset, payloadBytes));
            }
            offset += packetBytes();
        }
        return offset;
    }

    /**
     * Checks the packets received by a call and extracts their payload.
     *
     * @return bytes of payload
     */
    long unpack(long bytes, int eachBytes) throws IOException {
        long payload = 0;
        for (long offset = 0; offset < bytes; offset += eachBytes) {
            int length = (int) Math.min(eachBytes, bytes - offset) - HEADER_BYTES - CRC_BYTES;
            if (crc && staging.get(JAVA_INT_UNALIGNED, offset + HEADER_BYTES + length) != checksum(offset, length)) {
                throw new IOException("a packet was corrupted");
            }
            if (copy) {
                MemorySegment.copy(staging, offset + HEADER_BYTES, user, nextUserOffset(), length);
            }
            payload += length;
        }
        return payload;
    }

    private long nextUserOffset() {
        long offset = userOffset;
        userOffset += payloadBytes;
        if (userOffset + payloadBytes > USER_BYTES) {
            userOffset = 0;
        }
        return offset;
    }

    private int checksum(long offset, int length) {
        checksum.reset();
        stagingBytes.limit((int) offset + HEADER_BYTES + length).position((int) offset);
        checksum.update(stagingBytes);
        return (int) checksum.getValue();
    }
}
