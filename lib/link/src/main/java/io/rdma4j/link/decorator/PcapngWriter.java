package io.rdma4j.link.decorator;

import io.rdma4j.link.internal.UdpHeaders;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames to a packet capture in pcapng format, which Wireshark and tcpdump read. Thread safe: several links may
 * share one writer.
 *
 * <p>The IP and UDP headers around each frame are reconstructed. Lengths, addresses and ports are those on the wire.
 * IPv4 headers have don't-fragment set, the identification, a header checksum and no UDP checksum. If the socket did
 * not report the identification, it is recovered from the ICRC, and is 0 if the ICRC is wrong. IPv6 headers have the
 * UDP checksum that IPv6 requires. Times are in nanoseconds, and each packet is marked as inbound or outbound.
 *
 * <p>The file ends with a complete block after each {@link #flush}, so it can be read while it grows and after this
 * process was killed. If writing fails, the file is truncated to its last complete block, and further packets are
 * counted as lost: a full disk does not stop the links. The file is locked against other captures, including those of
 * other processes, if the file system supports locks.
 *
 * <p>Source: "PCAP Next Generation (pcapng) Capture File Format", IETF draft-ietf-opsawg-pcapng.
 */
public final class PcapngWriter implements AutoCloseable {
    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;
    private static final int INTERFACE_DESCRIPTION = 1;
    private static final int ENHANCED_PACKET = 6;
    /** Link type of packets that begin with their IPv4 or IPv6 header. */
    private static final int LINKTYPE_RAW = 101;

    private static final int OPTION_END = 0;
    private static final int OPTION_INTERFACE_NAME = 2;
    private static final int OPTION_TIME_RESOLUTION = 9;
    private static final int OPTION_USER_APPLICATION = 4;
    private static final int OPTION_PACKET_FLAGS = 2;
    private static final int FLAG_INBOUND = 1;
    private static final int FLAG_OUTBOUND = 2;

    /** Block header, packet header, flags option and end of options, block trailer. */
    private static final int PACKET_BLOCK_OVERHEAD = 28 + 8 + 4 + 4;

    private static final int MAX_IP_HEADERS = 48;
    private static final int BUFFER_BYTES = 256 * 1024;

    /** Written as a stream, because an interrupt of a writing thread would close the channel for all links. */
    private final FileOutputStream file;

    private final Path path;
    private final LongSupplier epochNanos;
    private final Consumer<String> onFailure;
    private final ByteBuffer blocks = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer headers = ByteBuffer.allocate(MAX_IP_HEADERS);
    private final Icrc icrc = new Icrc();
    private final LongAdder lost = new LongAdder();
    private long bufferedPackets;
    private long fileBytes;
    private boolean closed;
    private @Nullable IOException failure;

    private PcapngWriter(FileOutputStream file, Path path, LongSupplier epochNanos, Consumer<String> onFailure) {
        this.file = file;
        this.path = path;
        this.epochNanos = epochNanos;
        this.onFailure = onFailure;
    }

    /**
     * Creates a capture file. An existing file of the same name is replaced.
     *
     * @param path the file to write
     * @param epochNanos returns the time of each packet, in nanoseconds since 1970
     * @throws IOException if the file cannot be written, or another capture is being written to it
     */
    public static PcapngWriter create(Path path, LongSupplier epochNanos) throws IOException {
        return create(path, epochNanos, _ -> {});
    }

    /**
     * Creates a capture file and reports later failures.
     *
     * @param path the file to write
     * @param epochNanos returns the time of each packet, in nanoseconds since 1970
     * @param onFailure receives one sentence if writing fails later, called by the thread that drives the link
     * @throws IOException if the file cannot be written, or another capture is being written to it
     */
    public static PcapngWriter create(Path path, LongSupplier epochNanos, Consumer<String> onFailure)
            throws IOException {
        try {
            // Append, because another process may be writing the file.
            return create(new FileOutputStream(path.toFile(), true), path, epochNanos, onFailure);
        } catch (IOException e) {
            throw failure(path, e, "");
        }
    }

    /** Creates a capture in an open file, which is closed if that fails. */
    static PcapngWriter create(FileOutputStream file, Path path, LongSupplier epochNanos, Consumer<String> onFailure)
            throws IOException {
        boolean done = false;
        try {
            lockAndTruncate(file.getChannel());
            PcapngWriter writer = new PcapngWriter(file, path, epochNanos, onFailure);
            writer.putSectionHeader();
            writer.putInterfaceDescription();
            writer.writeBlocks();
            done = true;
            return writer;
        } finally {
            if (!done) {
                file.close();
            }
        }
    }

    /** Locks and truncates the file. The lock is held until the file is closed. */
    private static void lockAndTruncate(FileChannel channel) throws IOException {
        if (!isLocked(channel)) {
            throw new IOException("another capture is being written to it");
        }
        if (channel.size() > 0) {
            channel.truncate(0);
        }
    }

    private static boolean isLocked(FileChannel channel) {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException held) {
            return false;
        } catch (IOException unsupported) {
            return true; // the file system has no locks; the capture is more useful than the lock
        }
    }

    private static IOException failure(Path path, IOException cause, String more) {
        return new IOException("write packet capture " + path + ": " + reason(path, cause) + more, cause);
    }

    private static String reason(Path path, IOException e) {
        String message = String.valueOf(e.getMessage());
        if (!(e instanceof FileNotFoundException)) {
            return message;
        }
        Path folder = path.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            return "no such folder";
        }
        String name = path + " (";
        return message.startsWith(name) ? message.substring(name.length(), message.length() - 1) : message;
    }

    /** Returns the file that is written. */
    public Path path() {
        return path;
    }

    /** Returns the number of packets that could not be written. */
    public long lostPackets() {
        return lost.sum();
    }

    /** Returns the reason why the file could not be written, or null. */
    public synchronized @Nullable IOException failure() {
        return failure;
    }

    private void putSectionHeader() {
        int start = beginBlock(SECTION_HEADER);
        blocks.putInt(BYTE_ORDER_MAGIC).putShort((short) 1).putShort((short) 0).putLong(-1);
        putOption(OPTION_USER_APPLICATION, "rdma4j".getBytes(StandardCharsets.UTF_8));
        endBlock(start);
    }

    private void putInterfaceDescription() {
        int start = beginBlock(INTERFACE_DESCRIPTION);
        blocks.putShort((short) LINKTYPE_RAW).putShort((short) 0).putInt(0);
        putOption(OPTION_INTERFACE_NAME, "rdma4j".getBytes(StandardCharsets.UTF_8));
        putOption(OPTION_TIME_RESOLUTION, new byte[] {9});
        endBlock(start);
    }

    private int beginBlock(int type) {
        int start = blocks.position();
        blocks.putInt(type).putInt(0);
        return start;
    }

    /** Ends the options, and writes the block's length at both of its ends. */
    private void endBlock(int start) {
        blocks.putInt(OPTION_END);
        int length = blocks.position() + 4 - start;
        blocks.putInt(length).putInt(start + 4, length);
    }

    private void putOption(int code, byte[] value) {
        blocks.putShort((short) code).putShort((short) value.length).put(value);
        pad(value.length);
    }

    private void pad(int bytes) {
        for (int i = bytes; (i & 3) != 0; i++) {
            blocks.put((byte) 0);
        }
    }

    /**
     * Appends a frame. It is written to the file by the next {@link #flush} or earlier.
     *
     * @param outbound true if this host sends the frame, false if it receives it
     */
    public synchronized void write(Frame frame, boolean outbound) {
        if (failure != null) {
            lost.increment();
            return;
        }
        int headerBytes = frame.isIpv4() ? UdpHeaders.IPV4_BYTES : UdpHeaders.IPV6_BYTES;
        int packetBytes = headerBytes + frame.length;
        if (blocks.remaining() < PACKET_BLOCK_OVERHEAD + packetBytes + 3) {
            flush();
        }
        headers.clear();
        if (frame.isIpv4()) {
            UdpHeaders.writeIpv4(headers, frame, identification(frame));
        } else {
            UdpHeaders.writeIpv6(headers, frame);
        }
        long now = epochNanos.getAsLong();
        int start = beginBlock(ENHANCED_PACKET);
        blocks.putInt(0)
                .putInt((int) (now >>> 32))
                .putInt((int) now)
                .putInt(packetBytes)
                .putInt(packetBytes);
        blocks.put(headers.flip());
        blocks.put(blocks.position(), frame.buffer, frame.offset, frame.length);
        blocks.position(blocks.position() + frame.length);
        pad(packetBytes);
        blocks.putShort((short) OPTION_PACKET_FLAGS).putShort((short) 4);
        blocks.putInt(outbound ? FLAG_OUTBOUND : FLAG_INBOUND);
        endBlock(start);
        bufferedPackets++;
    }

    private int identification(Frame frame) {
        if (frame.isIdentificationKnown()) {
            return frame.identification;
        }
        return Math.max(0, icrc.recoverIdentification(frame));
    }

    /** Writes all buffered packets to the operating system, which keeps them even if this process exits. */
    public synchronized void flush() {
        if (blocks.position() == 0) {
            return;
        }
        try {
            writeBlocks();
        } catch (IOException e) {
            failure = e;
            lost.add(bufferedPackets - keepWholeBlocks(e));
            onFailure.accept("rdma4j: packet capture " + path + ": " + reason(path, e)
                    + "; it ends here, and later packets are missing from it");
        }
        blocks.clear();
        bufferedPackets = 0;
    }

    private void writeBlocks() throws IOException {
        file.write(blocks.array(), 0, blocks.position());
        fileBytes += blocks.position();
        blocks.clear();
    }

    /** Truncates the file after its last complete block, and returns the number of buffered packets that are in it. */
    private int keepWholeBlocks(IOException cause) {
        boolean interrupted = Thread.interrupted(); // an interrupt would close the channel
        try {
            FileChannel channel = file.getChannel();
            long written = channel.size() - fileBytes;
            int packets = 0;
            int whole = 0;
            while (whole < blocks.position() && whole + blocks.getInt(whole + 4) <= written) {
                packets += blocks.getInt(whole) == ENHANCED_PACKET ? 1 : 0;
                whole += blocks.getInt(whole + 4);
            }
            if (written > whole) {
                channel.truncate(fileBytes + whole);
            }
            return packets;
        } catch (IOException e) {
            cause.addSuppressed(e);
            return 0;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Closes the capture. Closing it again has no effect.
     *
     * @throws IOException if packets were lost because the file could not be written, or the system reports only now that it
     *     could not
     */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        flush();
        closed = true;
        IOException cause = failure;
        failure = new IOException("the capture is closed");
        String more = cause == null ? "" : "; " + lost.sum() + " packets are missing from it";
        try {
            file.close();
        } catch (IOException late) {
            if (cause == null) {
                cause = late;
            } else {
                cause.addSuppressed(late);
            }
        }
        if (cause != null) {
            throw failure(path, cause, more);
        }
    }
}
