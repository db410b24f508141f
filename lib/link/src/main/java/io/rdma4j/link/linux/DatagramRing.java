package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.link.LinkStatistics;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Receives datagrams. All memory for the system calls is allocated once: a ring of slots, each with its source address and
 * message header. If the system coalesces the datagrams of one sender (UDP_GRO), a slot holds up to 64 KiB of them, contiguous
 * and all of one size except the last, as transmitted by a segmented send of the peer.
 *
 * <p>While every second call finds nothing, as in an exchange of single messages, each call receives into one slot. The
 * number of slots per call grows while datagrams keep arriving.
 */
final class DatagramRing {
    private static final int SLOTS = 8;
    private static final int SLOT_BYTES = 1 << 16;
    private static final int NAME_BYTES = 32;

    /** Space for the traffic class and the segment size of coalesced datagrams. */
    private static final int CONTROL_BYTES = 2 * MessageHeader.CONTROL_MESSAGE_BYTES;

    private static final long SEGMENT_SIZE = MessageHeader.controlKind(Posix.SOL_UDP, Posix.UDP_GRO);
    private static final long TYPE_OF_SERVICE = MessageHeader.controlKind(Posix.IPPROTO_IP, Posix.IP_TOS);
    private static final long TRAFFIC_CLASS = MessageHeader.controlKind(Posix.IPPROTO_IPV6, Posix.IPV6_TCLASS);

    private final Socket socket;
    private final boolean ipv4;
    private final LinkStatistics statistics;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment ring = arena.allocate((long) SLOTS * SLOT_BYTES, 64);
    private final ByteBuffer ringView = ring.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
    private final MemorySegment names = arena.allocate(SLOTS * NAME_BYTES, 8);
    private final MemorySegment vectors = arena.allocate(SLOTS * MessageHeader.VECTOR_BYTES, 8);
    private final MemorySegment headers = arena.allocate(SLOTS * MessageHeader.BYTES, 8);
    private final MemorySegment controls = arena.allocate(SLOTS * CONTROL_BYTES, 8);

    private final long localHigh;
    private final long localLow;
    private final int localPort;

    /** Number of slots to pass to the next call. */
    private int slotsPerCall = 1;

    /** Number of slots that the last call filled; {@link #slot} is the one being read. */
    private int filled;

    private int slot;

    /** The unread part of that slot and its segments. */
    private int offset;

    private int end;
    private int segmentBytes;
    private int segment;
    private int segments;
    private @Nullable PortTakeover takeover;
    private int trafficClass;
    private long sourceHigh;
    private long sourceLow;
    private int sourcePort;

    DatagramRing(Socket socket, InetSocketAddress local, LinkStatistics statistics) {
        this.socket = socket;
        InetAddress address = local.getAddress();
        ipv4 = address instanceof Inet4Address;
        localHigh = GidAddresses.high(address);
        localLow = GidAddresses.low(address);
        localPort = local.getPort();
        this.statistics = statistics;
        for (int i = 0; i < SLOTS; i++) {
            long header = (long) i * MessageHeader.BYTES;
            long vector = (long) i * MessageHeader.VECTOR_BYTES;
            vectors.set(JAVA_LONG, vector, ring.address() + (long) i * SLOT_BYTES);
            vectors.set(JAVA_LONG, vector + MessageHeader.VECTOR_LENGTH, SLOT_BYTES);
            headers.set(JAVA_LONG, header + MessageHeader.NAME, names.address() + (long) i * NAME_BYTES);
            headers.set(JAVA_INT, header + MessageHeader.NAME_LENGTH, NAME_BYTES);
            headers.set(JAVA_LONG, header + MessageHeader.VECTORS, vectors.address() + vector);
            headers.set(JAVA_LONG, header + MessageHeader.VECTOR_COUNT, 1);
            headers.set(JAVA_LONG, header + MessageHeader.CONTROL, controls.address() + (long) i * CONTROL_BYTES);
            headers.set(JAVA_LONG, header + MessageHeader.CONTROL_LENGTH, CONTROL_BYTES);
        }
    }

    /** Sets the receiver of the datagrams by which a link determines whether it gets the input of its port. */
    void probes(PortTakeover receiver) {
        takeover = receiver;
    }

    /** Adds frames to a burst until it is full or none is pending. The frames are valid until the next call. */
    void poll(ReceiveBurst burst) {
        if (slot == filled && !receive()) {
            return;
        }
        while (slot < filled) {
            while (segment < segments) {
                if (burst.isFull()) {
                    return;
                }
                fill(burst.add());
            }
            if (++slot < filled) {
                open();
            }
        }
    }

    /** Receives pending datagrams. An error means that none are pending, or reports the failure of an earlier send. */
    private boolean receive() {
        slot = 0;
        filled = Math.max(0, Posix.recvmmsg(socket.errno, socket.fd, headers, slotsPerCall));
        slotsPerCall = filled == 0 ? 1 : Math.min(SLOTS, 2 * slotsPerCall);
        if (filled == 0) {
            return false;
        }
        open();
        return true;
    }

    /** Starts reading a slot, and resets its header for the next call. */
    private void open() {
        long header = (long) slot * MessageHeader.BYTES;
        int bytes = headers.get(JAVA_INT, header + MessageHeader.LENGTH);
        offset = slot * SLOT_BYTES;
        end = offset + bytes;
        segment = 0;
        segmentBytes = bytes;
        trafficClass = 0;
        readControl(headers.get(JAVA_LONG, header + MessageHeader.CONTROL_LENGTH));
        long name = (long) slot * NAME_BYTES;
        sourceHigh = SocketAddresses.high(names, name, ipv4);
        sourceLow = SocketAddresses.low(names, name, ipv4);
        sourcePort = SocketAddresses.port(names, name);
        headers.set(JAVA_INT, header + MessageHeader.NAME_LENGTH, NAME_BYTES);
        headers.set(JAVA_LONG, header + MessageHeader.CONTROL_LENGTH, CONTROL_BYTES);
        if (segmentBytes > SendBurst.MAX_FRAME_BYTES) {
            statistics.oversizeDatagrams.increment();
            segments = 0;
        } else if (takeover != null && takeover.takes(ring, offset, bytes)) {
            segments = 0;
        } else {
            // An empty datagram is a frame too, which the receiver counts.
            segments = bytes <= segmentBytes ? 1 : (bytes + segmentBytes - 1) / segmentBytes;
        }
    }

    /** Reads the traffic class and the size of the datagrams, if the system reports them. */
    private void readControl(long controlBytes) {
        long begin = (long) slot * CONTROL_BYTES;
        long position = begin;
        while (position + MessageHeader.CONTROL_HEADER_BYTES < begin + controlBytes) {
            long kind = controls.get(JAVA_LONG, position + MessageHeader.CONTROL_KIND);
            long data = position + MessageHeader.CONTROL_HEADER_BYTES;
            if (kind == SEGMENT_SIZE) {
                segmentBytes = Math.max(1, controls.get(JAVA_INT, data));
            } else if (kind == TYPE_OF_SERVICE) {
                trafficClass = controls.get(JAVA_BYTE, data) & 0xff;
            } else if (kind == TRAFFIC_CLASS) {
                trafficClass = controls.get(JAVA_INT, data) & 0xff;
            }
            position += MessageHeader.CONTROL_MESSAGE_BYTES;
        }
    }

    private void fill(Frame frame) {
        frame.segment = ring;
        frame.buffer = ringView;
        frame.offset = offset;
        frame.length = Math.min(segmentBytes, end - offset);
        frame.sourceHigh = sourceHigh;
        frame.sourceLow = sourceLow;
        frame.sourcePort = sourcePort;
        frame.destinationHigh = localHigh;
        frame.destinationLow = localLow;
        frame.destinationPort = localPort;
        // The identification that our segmented sends produce, unless a device on the path re-segmented the datagrams.
        frame.identification = ipv4 ? ~segment : 0;
        frame.trafficClass = trafficClass;
        frame.hopLimit = 64;
        offset += segmentBytes;
        segment++;
    }
}
