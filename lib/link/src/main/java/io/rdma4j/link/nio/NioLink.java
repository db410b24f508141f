package io.rdma4j.link.nio;

import io.rdma4j.link.LinkCapabilities;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.internal.AbstractLink;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import org.jspecify.annotations.Nullable;

/**
 * A UDP link on a datagram channel that is never connected. A connected channel would send IPv4 identifications other
 * than 0, and receive frames from one peer only.
 *
 * <p>NIO creates an address object for each received datagram. On Linux it cannot enable the reception of UDP/IPv6
 * datagrams without a checksum: see {@link LinkCapabilities#receivesZeroChecksum}.
 */
final class NioLink extends AbstractLink {
    private static final int SLOTS = 64;
    /** At least one byte more than the largest frame, to detect truncated datagrams; rounded up to a cache line. */
    private static final int SLOT_BYTES = SendBurst.MAX_FRAME_BYTES + 64;

    private static final int DESTINATIONS = 64;

    private final NioLinkSet set;
    private final DatagramChannel channel;
    private final long localHigh;
    private final long localLow;
    private final @Nullable MembershipKey membership;
    private final LinkCapabilities capabilities;
    private final MemorySegment ring = Arena.ofAuto().allocate((long) SLOTS * SLOT_BYTES, 64);
    private final ByteBuffer ringView = ring.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
    private final ByteBuffer receiving = ring.asByteBuffer();
    private final @Nullable Destination[] destinations = new @Nullable Destination[DESTINATIONS];
    private int trafficClass;

    NioLink(NioLinkSet set, DatagramChannel channel, @Nullable MembershipKey membership, int mtuBytes)
            throws IOException {
        super((InetSocketAddress) channel.getLocalAddress());
        this.set = set;
        this.channel = channel;
        InetAddress address = localAddress().getAddress();
        localHigh = GidAddresses.high(address);
        localLow = GidAddresses.low(address);
        this.membership = membership;
        capabilities = new LinkCapabilities(mtuBytes, 1, false, ipv4);
    }

    @Override
    public LinkCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public void send(SendBurst burst) {
        if (!maySend(burst, channel.isOpen())) {
            return;
        }
        if (burst.trafficClass() != trafficClass) {
            trafficClass = burst.trafficClass();
            NioLinkSet.prefer(channel, StandardSocketOptions.IP_TOS, trafficClass & 0xff);
        }
        InetSocketAddress destination = destination(burst);
        ByteBuffer buffer = burst.buffer();
        for (int i = 0; i < burst.count(); i++) {
            int offset = burst.offset(i);
            buffer.limit(offset + burst.length(i)).position(offset);
            if (sendOne(buffer, destination)) {
                statistics.sentFrames.increment();
            } else {
                statistics.sendFailures.increment();
            }
        }
        buffer.clear();
    }

    private boolean sendOne(ByteBuffer frame, InetSocketAddress destination) {
        try {
            return channel.send(frame, destination) > 0;
        } catch (IOException e) {
            // Too long for the path, filtered, no route, or closed: the frame is lost, as on any network.
            return false;
        }
    }

    private InetSocketAddress destination(SendBurst burst) {
        long high = burst.destinationHigh();
        long low = burst.destinationLow();
        int port = burst.destinationPort();
        int scope = destinationScope(burst);
        int slot = Long.hashCode((low ^ high * 31) + port + scope) * 0x9e3779b1 >>> 26;
        Destination cached = destinations[slot];
        if (cached == null || !cached.is(high, low, scope, port)) {
            InetAddress address = GidAddresses.address(high, low, scope);
            cached = new Destination(high, low, scope, port, new InetSocketAddress(address, port));
            destinations[slot] = cached;
        }
        return cached.socketAddress;
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        try {
            for (int slot = 0; slot < SLOTS && !burst.isFull(); slot++) {
                int offset = slot * SLOT_BYTES;
                receiving.limit(offset + SLOT_BYTES).position(offset);
                if (!(channel.receive(receiving) instanceof InetSocketAddress source)) {
                    break;
                }
                int length = receiving.position() - offset;
                if (length > SendBurst.MAX_FRAME_BYTES) {
                    statistics.oversizeDatagrams.increment();
                } else {
                    statistics.receivedFrames.increment();
                    fill(burst.add(), offset, length, source);
                }
            }
        } catch (IOException e) {
            // Closed, or the reported failure of an earlier send: nothing was received.
            return burst.count();
        }
        return burst.count();
    }

    private void fill(Frame frame, int offset, int length, InetSocketAddress source) {
        frame.segment = ring;
        frame.buffer = ringView;
        frame.offset = offset;
        frame.length = length;
        frame.sourceHigh = GidAddresses.high(source.getAddress());
        frame.sourceLow = GidAddresses.low(source.getAddress());
        frame.sourcePort = source.getPort();
        frame.destinationHigh = localHigh;
        frame.destinationLow = localLow;
        frame.destinationPort = localAddress().getPort();
        frame.identification = ipv4 ? Frame.IDENTIFICATION_UNKNOWN : 0;
        frame.trafficClass = 0;
        frame.hopLimit = 64;
    }

    @Override
    public void close() throws IOException {
        if (channel.isOpen()) {
            if (membership != null) {
                // Leave the group now, since the socket may stay open until the selector has run.
                membership.drop();
            }
            channel.close();
            set.release();
        }
    }

    @Override
    public String toString() {
        return "nio link " + localAddress();
    }

    /** A destination with the address object that NIO needs for it. */
    private record Destination(long high, long low, int scope, int port, InetSocketAddress socketAddress) {
        boolean is(long otherHigh, long otherLow, int otherScope, int otherPort) {
            return low == otherLow && high == otherHigh && scope == otherScope && port == otherPort;
        }
    }
}
