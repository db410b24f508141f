package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.link.Flow;
import io.rdma4j.link.LinkCapabilities;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.internal.AbstractLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A UDP link on a socket that is never connected.
 *
 * <p>A burst of several frames is sent by one segmented send (UDP_SEGMENT) if the system supports it (decision 020).
 * The segment size is passed with each call, since a socket that has it set as an option is slower at all other calls.
 */
final class LinuxLink extends AbstractLink {
    /** Largest number of frames in one segmented send; later kernels allow more. */
    private static final int MAX_SEGMENTS = 64;

    private final Socket socket;
    private final SendSocket own;
    private final @Nullable LinuxFlows flows;
    private final @Nullable PortGroup portGroup;
    private final @Nullable Runnable leaveGroup;
    private LinkCapabilities capabilities;
    private final DatagramRing ring;

    private final Arena arena = Arena.ofAuto();

    /**
     * The message header of a segmented send. Its single vector and the control message with the segment size follow.
     */
    private final MemorySegment header = arena.allocate(MessageHeader.BYTES, 8);

    private final MemorySegment vector = arena.allocate(MessageHeader.VECTOR_BYTES, 8);
    private final MemorySegment control = arena.allocate(MessageHeader.CONTROL_MESSAGE_BYTES, 8);

    private final MemorySegment destination = arena.allocate(SocketAddresses.IPV6_BYTES, 8);
    private int destinationBytes;
    private long destinationHigh;
    private long destinationLow;
    private int destinationScope;
    private int destinationPort = -1;
    private int flowLabel;
    private @Nullable PortTakeover takeover;

    /**
     * Creates a link.
     *
     * @param opener opens a socket that is bound to another port of the same address; null for a link that receives a multicast group
     * @param portGroup the sockets of the same address and port; null for a link that receives a multicast group
     * @param leaveGroup leaves the multicast group of a link that receives one; null for other links
     */
    LinuxLink(
            Socket socket,
            InetSocketAddress local,
            LinuxFlows.@Nullable Opener opener,
            @Nullable PortGroup portGroup,
            @Nullable Runnable leaveGroup,
            int mtuBytes) {
        super(local);
        this.socket = socket;
        this.own = new SendSocket(socket, ipv4);
        flows = opener == null ? null : new LinuxFlows(opener);
        socket.onSetClose(this::closeFlows);
        this.portGroup = portGroup;
        this.leaveGroup = leaveGroup;
        boolean sendsSegments = !isGroup && socket.option(Posix.SOL_UDP, Posix.UDP_SEGMENT, 0);
        capabilities = new LinkCapabilities(mtuBytes, sendsSegments ? MAX_SEGMENTS : 1, sendsSegments, true);
        ring = new DatagramRing(socket, local, statistics);
        prepareHeader();
        // If the system does not support this, each datagram is received separately.
        boolean _ = !isGroup && socket.option(Posix.SOL_UDP, Posix.UDP_GRO, 1);
        // If the system does not support this, all frames appear to have traffic class 0.
        boolean _ = ipv4
                ? socket.option(Posix.IPPROTO_IP, Posix.IP_RECVTOS, 1)
                : socket.option(Posix.IPPROTO_IPV6, Posix.IPV6_RECVTCLASS, 1);
    }

    private void prepareHeader() {
        header.set(JAVA_LONG, MessageHeader.NAME, destination.address());
        header.set(JAVA_LONG, MessageHeader.VECTORS, vector.address());
        header.set(JAVA_LONG, MessageHeader.VECTOR_COUNT, 1);
        header.set(JAVA_LONG, MessageHeader.CONTROL, control.address());
        header.set(JAVA_LONG, MessageHeader.CONTROL_LENGTH, MessageHeader.CONTROL_MESSAGE_BYTES);
        control.set(JAVA_LONG, 0, MessageHeader.CONTROL_HEADER_BYTES + Short.BYTES);
        control.set(JAVA_LONG, MessageHeader.CONTROL_KIND, MessageHeader.controlKind(Posix.SOL_UDP, Posix.UDP_SEGMENT));
    }

    /** Returns the port that other links may share, or null if this link receives a multicast group. Any thread. */
    @Nullable
    PortGroup portGroup() {
        return portGroup;
    }

    /**
     * Takes the input of the port, which the socket shares with those of other processes.
     *
     * @return false if the system does not deliver it to this link
     */
    boolean takeOver(PortTakeover newTakeover) {
        takeover = newTakeover;
        ring.probes(newTakeover);
        return newTakeover.begin(ring);
    }

    @Override
    public void claimInput() {
        if (takeover != null && !socket.closed) {
            takeover.check();
        }
    }

    @Override
    public void abandonInput() {
        takeover = null; // the filter of the ring remains, for probes that are still on their way
        if (portGroup != null) {
            portGroup.abandon();
        }
    }

    @Override
    public LinkCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public void send(SendBurst burst) {
        if (!maySend(burst, !socket.closed)) {
            return;
        }
        SendSocket sender = sender(burst);
        prepareDestination(burst, sender.prepare(burst));
        int count = burst.count();
        int sent = count > 1 && capabilities.maxSegments() > 1
                ? sendSegmented(burst, sender.socket)
                : sendEach(burst, sender.socket);
        statistics.sentFrames.add(sent);
        if (sent != count) {
            statistics.sendFailures.add(count - sent);
        }
    }

    @Override
    public @Nullable Flow openFlow(int sourcePort) {
        return flows == null ? null : flows.open(sourcePort);
    }

    private SendSocket sender(SendBurst burst) {
        return burst.flow() instanceof LinuxFlows.LinuxFlow flow && flow.isOpen() ? flow.sender() : own;
    }

    /** Sends all frames or none. */
    private int sendSegmented(SendBurst burst, Socket from) {
        vector.set(JAVA_LONG, 0, burst.segment().address());
        vector.set(JAVA_LONG, MessageHeader.VECTOR_LENGTH, burst.tail());
        control.set(JAVA_SHORT, MessageHeader.CONTROL_HEADER_BYTES, (short) burst.segmentBytes());
        header.set(JAVA_INT, MessageHeader.NAME_LENGTH, destinationBytes);
        int sent = Posix.sendmsg(from.errno, from.fd, header);
        if (sent == -LinuxErrno.EIO) {
            // The interface cannot checksum the segments, and the system is too old to do it itself.
            capabilities = new LinkCapabilities(capabilities.mtuBytes(), 1, false, capabilities.receivesZeroChecksum());
        }
        return sent >= 0 ? burst.count() : 0;
    }

    private int sendEach(SendBurst burst, Socket from) {
        MemorySegment memory = burst.segment();
        int sent = 0;
        try {
            for (int i = 0; i < burst.count(); i++) {
                long data = memory.address() + burst.offset(i);
                if (Posix.sendto(from.errno, from.fd, data, burst.length(i), destination, destinationBytes) >= 0) {
                    sent++;
                }
            }
        } finally {
            Reference.reachabilityFence(memory);
        }
        return sent;
    }

    private void prepareDestination(SendBurst burst, int label) {
        long high = burst.destinationHigh();
        long low = burst.destinationLow();
        int port = burst.destinationPort();
        int scope = destinationScope(burst);
        if (low != destinationLow || high != destinationHigh || port != destinationPort || scope != destinationScope) {
            destinationHigh = high;
            destinationLow = low;
            destinationPort = port;
            destinationScope = scope;
            destinationBytes = SocketAddresses.write(destination, high, low, scope, port);
            flowLabel = 0;
        }
        if (label != flowLabel) {
            flowLabel = label;
            SocketAddresses.flowLabel(destination, label);
        }
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        if (socket.closed) {
            return 0;
        }
        ring.poll(burst);
        if (burst.count() > 0) {
            statistics.receivedFrames.add(burst.count());
        }
        return burst.count();
    }

    @Override
    public void close() {
        if (leaveGroup != null && !socket.closed) {
            // Leave now, since the socket stays open until no thread waits for it.
            leaveGroup.run();
        }
        closeFlows();
        socket.close();
    }

    private void closeFlows() {
        if (flows != null) {
            flows.close();
        }
    }

    @Override
    public String toString() {
        return "linux link " + localAddress();
    }
}
