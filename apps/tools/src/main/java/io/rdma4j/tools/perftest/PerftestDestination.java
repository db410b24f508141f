package io.rdma4j.tools.perftest;

import io.rdma4j.value.Gid;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The address of a side's queue pair and of its memory, in the form that the two sides exchange.
 *
 * <p>Over a connection of the connection manager it is a C structure in network byte order. Its length is 56 bytes with
 * padding. From version 6.29 of the protocol it is 64 bytes, with the address of the data for {@code --data_validation}
 * before the GID. Over TCP it is a text of 108 bytes, including the terminating zero.
 *
 * @param localId the LID, 0 over RoCE
 * @param outstanding the number of READs and atomics that the side accepts at a time
 * @param queuePair the queue pair number
 * @param packetNumber the first packet sequence number
 * @param remoteKey the remote key of the memory
 * @param address the address of the memory
 * @param gid the GID of the side
 * @param gidIndex the index of the GID in the side's table
 * @param sharedReceiveQueue the number of the shared receive queue of extended connections, otherwise 0
 */
record PerftestDestination(
        int localId,
        int outstanding,
        int queuePair,
        int packetNumber,
        int remoteKey,
        long address,
        Gid gid,
        int gidIndex,
        int sharedReceiveQueue) {
    /** The maximum length of {@link #toBytes}. */
    static final int MAX_BYTES = 64;

    private static final int BYTES_BEFORE_VALIDATION = 56;

    /** The first version of the protocol with the longer structure. Perftest 26.04 uses it. */
    private static final double VALIDATION_VERSION = 6.29;

    /** The length of {@link #toText}. */
    static final int TEXT_BYTES = 108;

    /** The destination that a side sends before it has a queue pair. */
    static final PerftestDestination EMPTY = new PerftestDestination(0, 0, 0, 0, 0, 0, Gid.ZERO, 0, 0);

    private static final int ADDRESS_AT = 24;

    /** The distance of the GID from the end of the structure. */
    private static final int GID_BEFORE_END = 24;

    private static final int TEXT_GID_AT = 50;
    private static final int TEXT_RECEIVES_AT = 98;

    /** Returns the length of the C structure in a version of the protocol. */
    static int bytes(double version) {
        return version < VALIDATION_VERSION ? BYTES_BEFORE_VALIDATION : MAX_BYTES;
    }

    /**
     * Returns the C structure.
     *
     * @param bytes its length
     */
    byte[] toBytes(int bytes) {
        return ByteBuffer.allocate(bytes)
                .putInt(localId)
                .putInt(outstanding)
                .putInt(queuePair)
                .putInt(packetNumber)
                .putInt(remoteKey)
                .putLong(ADDRESS_AT, address)
                .putLong(bytes - GID_BEFORE_END, gid.high())
                .putLong(bytes - GID_BEFORE_END + 8, gid.low())
                .putInt(bytes - 8, sharedReceiveQueue)
                .putInt(bytes - 4, gidIndex)
                .array();
    }

    /** Parses a C structure of either length. */
    static PerftestDestination ofBytes(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int gidAt = bytes.length - GID_BEFORE_END;
        return new PerftestDestination(
                in.getInt(0),
                in.getInt(4),
                in.getInt(8) & 0xff_ffff,
                in.getInt(12) & 0xff_ffff,
                in.getInt(16),
                in.getLong(ADDRESS_AT),
                new Gid(in.getLong(gidAt), in.getLong(gidAt + 8)),
                in.getInt(bytes.length - 4),
                in.getInt(bytes.length - 8) & 0xff_ffff);
    }

    byte[] toText() {
        String text = String.format(
                        Locale.ROOT,
                        "%04x:%04x:%06x:%06x:%08x:%016x:",
                        localId,
                        outstanding,
                        queuePair,
                        packetNumber,
                        remoteKey,
                        address)
                + HexFormat.ofDelimiter(":").formatHex(gidBytes())
                + String.format(Locale.ROOT, ":%08x:\0", sharedReceiveQueue);
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Parses a text. Returns null if it is malformed. */
    static @Nullable PerftestDestination ofText(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String[] words = text.split(":", -1);
        if (bytes.length != TEXT_BYTES || words.length < 6) {
            return null;
        }
        try {
            byte[] gid = HexFormat.ofDelimiter(":").parseHex(text, TEXT_GID_AT, TEXT_GID_AT + 47);
            ByteBuffer halves = ByteBuffer.wrap(gid);
            return new PerftestDestination(
                    Integer.parseUnsignedInt(words[0], 16),
                    Integer.parseUnsignedInt(words[1], 16),
                    Integer.parseUnsignedInt(words[2], 16) & 0xff_ffff,
                    Integer.parseUnsignedInt(words[3], 16) & 0xff_ffff,
                    Integer.parseUnsignedInt(words[4], 16),
                    Long.parseUnsignedLong(words[5], 16),
                    new Gid(halves.getLong(), halves.getLong()),
                    0,
                    Integer.parseUnsignedInt(text, TEXT_RECEIVES_AT, TEXT_RECEIVES_AT + 8, 16) & 0xff_ffff);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private byte[] gidBytes() {
        return ByteBuffer.allocate(Gid.LENGTH)
                .putLong(gid.high())
                .putLong(gid.low())
                .array();
    }

    /**
     * Returns perftest's line about this destination.
     *
     * @param side local or remote
     * @param operation the measured operation, which determines the additional fields, or null to omit them
     */
    String line(String side, @Nullable MeasuredOperation operation) {
        StringBuilder text = new StringBuilder(" " + side + " address: LID ")
                .append(PerftestTable.hexadecimal(localId, 4))
                .append(" QPN ")
                .append(PerftestTable.hexadecimal(queuePair, 6))
                .append(" PSN ")
                .append(PerftestTable.hexadecimal(packetNumber, 6));
        if (operation == MeasuredOperation.READ) {
            text.append(" OUT ").append(PerftestTable.hexadecimal(outstanding, 4));
        }
        if (operation == MeasuredOperation.READ || operation == MeasuredOperation.WRITE) {
            text.append(" RKey ")
                    .append(PerftestTable.hexadecimal(remoteKey & 0xffff_ffffL, 8))
                    .append(" VAddr ")
                    .append(PerftestTable.hexadecimal(address, 16));
        }
        return text.toString();
    }

    /** Returns the line with the GID: sixteen decimal numbers, as in perftest. */
    String gidLine() {
        StringBuilder text = new StringBuilder(" GID: ");
        for (byte each : gidBytes()) {
            text.append(String.format(Locale.ROOT, "%02d:", each & 0xff));
        }
        return text.substring(0, text.length() - 1);
    }
}
