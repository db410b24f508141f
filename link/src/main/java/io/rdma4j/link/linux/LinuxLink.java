package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkCapabilities;
import io.rdma4j.link.LinkStatistics;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.internal.GidAddresses;
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
 * A UDP link on a socket that is never connected. All memory that the system calls need is laid out once: a ring of
 * frame slots, each with its source address and message header, so that one call takes in all that is there.
 */
final class LinuxLink implements Link {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = SendBurst.MAX_FRAME_BYTES;
    private static final int NAME_BYTES = 32;
    /** {@code struct iovec} and, within {@code struct mmsghdr}, the offsets of its fields. */
    private static final int IOVEC_BYTES = 16;

    private static final int HEADER_BYTES = 64;
    private static final int HEADER_NAME = 0;
    private static final int HEADER_NAME_LENGTH = 8;
    private static final int HEADER_IOVEC = 16;
    private static final int HEADER_IOVEC_COUNT = 24;
    private static final int HEADER_CONTROL = 32;
    private static final int HEADER_CONTROL_LENGTH = 40;
    private static final int HEADER_FLAGS = 48;
    private static final int HEADER_LENGTH = 56;

    /** One {@code struct cmsghdr} with room for an int: the offsets of its fields, and its size with padding. */
    private static final int CONTROL_LEVEL = 8;

    private static final int CONTROL_TYPE = 12;
    private static final int CONTROL_DATA = 16;
    private static final int CONTROL_BYTES = 24;

    private final Socket socket;
    private final InetSocketAddress local;
    private final long localHigh;
    private final long localLow;
    private final int localPort;
    private final int localScope;
    private final boolean ipv4;
    private final @Nullable Runnable leaveGroup;
    private final LinkCapabilities capabilities;
    private final LinkStatistics statistics = new LinkStatistics();

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment ring = arena.allocate((long) SLOTS * SLOT_BYTES, 64);
    private final ByteBuffer ringView = ring.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
    private final MemorySegment names = arena.allocate(SLOTS * NAME_BYTES, 8);
    private final MemorySegment vectors = arena.allocate(SLOTS * IOVEC_BYTES, 8);
    private final MemorySegment headers = arena.allocate(SLOTS * HEADER_BYTES, 8);
    private final MemorySegment controls = arena.allocate(SLOTS * CONTROL_BYTES, 8);

    private final MemorySegment destination = arena.allocate(SocketAddresses.IPV6_BYTES, 8);
    private int destinationBytes;
    private long destinationHigh;
    private long destinationLow;
    private int destinationScope;
    private int destinationPort = -1;
    private int trafficClass;

    /** {@code leaveGroup} ends the membership of a link that receives a multicast group; null for others. */
    LinuxLink(Socket socket, InetSocketAddress local, @Nullable Runnable leaveGroup, int mtuBytes) {
        this.socket = socket;
        this.local = local;
        InetAddress address = local.getAddress();
        localHigh = GidAddresses.high(address);
        localLow = GidAddresses.low(address);
        localScope = GidAddresses.scope(address);
        localPort = local.getPort();
        ipv4 = address instanceof Inet4Address;
        this.leaveGroup = leaveGroup;
        capabilities = new LinkCapabilities(mtuBytes, 1, false, true);
        for (int slot = 0; slot < SLOTS; slot++) {
            long header = (long) slot * HEADER_BYTES;
            long vector = (long) slot * IOVEC_BYTES;
            vectors.set(JAVA_LONG, vector, ring.address() + (long) slot * SLOT_BYTES);
            vectors.set(JAVA_LONG, vector + 8, SLOT_BYTES);
            headers.set(JAVA_LONG, header + HEADER_NAME, names.address() + (long) slot * NAME_BYTES);
            headers.set(JAVA_INT, header + HEADER_NAME_LENGTH, NAME_BYTES);
            headers.set(JAVA_LONG, header + HEADER_IOVEC, vectors.address() + vector);
            headers.set(JAVA_LONG, header + HEADER_IOVEC_COUNT, 1);
            headers.set(JAVA_LONG, header + HEADER_CONTROL, controls.address() + (long) slot * CONTROL_BYTES);
            headers.set(JAVA_LONG, header + HEADER_CONTROL_LENGTH, CONTROL_BYTES);
        }
        // Where the system refuses, all frames seem to be of class 0.
        boolean _ = ipv4
                ? socket.option(Posix.IPPROTO_IP, Posix.IP_RECVTOS, 1)
                : socket.option(Posix.IPPROTO_IPV6, Posix.IPV6_RECVTCLASS, 1);
    }

    @Override
    public LinkCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public void send(SendBurst burst) {
        int count = burst.count();
        if (socket.closed
                || leaveGroup != null
                || Frame.isIpv4(burst.destinationHigh(), burst.destinationLow()) != ipv4) {
            statistics.sendFailures.add(count);
            return;
        }
        if (burst.trafficClass() != trafficClass) {
            changeTrafficClass(burst.trafficClass());
        }
        prepareDestination(burst);
        MemorySegment memory = burst.segment();
        int sent = 0;
        for (int i = 0; i < count; i++) {
            // The first frame, mostly the only one, needs no view of its own.
            MemorySegment data = i == 0 ? memory : memory.asSlice(burst.offset(i));
            if (Posix.sendto(socket.errno, socket.fd, data, burst.length(i), destination, destinationBytes) >= 0) {
                sent++;
            }
        }
        statistics.sentFrames.add(sent);
        if (sent != count) {
            statistics.sendFailures.add(count - sent);
        }
    }

    private void changeTrafficClass(int newTrafficClass) {
        trafficClass = newTrafficClass;
        // A value that the system refuses is not worth a frame: it changes the frame's priority alone.
        boolean _ = ipv4
                ? socket.option(Posix.IPPROTO_IP, Posix.IP_TOS, newTrafficClass & 0xff)
                : socket.option(Posix.IPPROTO_IPV6, Posix.IPV6_TCLASS, newTrafficClass & 0xff);
    }

    private void prepareDestination(SendBurst burst) {
        long high = burst.destinationHigh();
        long low = burst.destinationLow();
        int port = burst.destinationPort();
        int scope = burst.destinationScope();
        if (scope == 0 && GidAddresses.isLinkLocal(high)) {
            scope = localScope;
        }
        if (low != destinationLow || high != destinationHigh || port != destinationPort || scope != destinationScope) {
            destinationHigh = high;
            destinationLow = low;
            destinationPort = port;
            destinationScope = scope;
            destinationBytes = SocketAddresses.write(destination, high, low, scope, port);
        }
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        if (socket.closed) {
            return 0;
        }
        int received = Posix.recvmmsg(socket.errno, socket.fd, headers, Math.min(burst.capacity(), SLOTS));
        // An error is the report of an earlier send's failure, or nothing has arrived.
        for (int slot = 0; slot < received; slot++) {
            long header = (long) slot * HEADER_BYTES;
            headers.set(JAVA_INT, header + HEADER_NAME_LENGTH, NAME_BYTES);
            int classOfFrame = receivedTrafficClass(slot, headers.get(JAVA_LONG, header + HEADER_CONTROL_LENGTH));
            headers.set(JAVA_LONG, header + HEADER_CONTROL_LENGTH, CONTROL_BYTES);
            if ((headers.get(JAVA_INT, header + HEADER_FLAGS) & Posix.MSG_TRUNC) != 0) {
                statistics.oversizeDatagrams.increment();
            } else {
                fill(burst.add(), slot, headers.get(JAVA_INT, header + HEADER_LENGTH), classOfFrame);
            }
        }
        if (burst.count() > 0) {
            statistics.receivedFrames.add(burst.count());
        }
        return burst.count();
    }

    /** Type of service or traffic class of the frame in a slot; 0 if the system did not tell. */
    private int receivedTrafficClass(int slot, long controlBytes) {
        long control = (long) slot * CONTROL_BYTES;
        if (controlBytes <= CONTROL_DATA) {
            return 0;
        }
        int level = controls.get(JAVA_INT, control + CONTROL_LEVEL);
        int type = controls.get(JAVA_INT, control + CONTROL_TYPE);
        if (level == Posix.IPPROTO_IP && type == Posix.IP_TOS) {
            return controls.get(JAVA_BYTE, control + CONTROL_DATA) & 0xff;
        }
        return level == Posix.IPPROTO_IPV6 && type == Posix.IPV6_TCLASS
                ? controls.get(JAVA_INT, control + CONTROL_DATA) & 0xff
                : 0;
    }

    private void fill(Frame frame, int slot, int length, int classOfFrame) {
        long name = (long) slot * NAME_BYTES;
        frame.segment = ring;
        frame.buffer = ringView;
        frame.offset = slot * SLOT_BYTES;
        frame.length = length;
        frame.sourceHigh = SocketAddresses.high(names, name, ipv4);
        frame.sourceLow = SocketAddresses.low(names, name, ipv4);
        frame.sourcePort = SocketAddresses.port(names, name);
        frame.destinationHigh = localHigh;
        frame.destinationLow = localLow;
        frame.destinationPort = localPort;
        frame.identification = ipv4 ? Frame.IDENTIFICATION_UNKNOWN : 0;
        frame.trafficClass = classOfFrame;
        frame.hopLimit = 64;
    }

    @Override
    public LinkStatistics statistics() {
        return statistics;
    }

    @Override
    public void close() {
        if (leaveGroup != null && !socket.closed) {
            // Now, since the socket itself lives until nobody waits for it any more.
            leaveGroup.run();
        }
        socket.close();
    }

    @Override
    public String toString() {
        return "linux link " + local;
    }
}
