package io.rdma4j.sockets.datagram;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.rsocket.CompanionHeader;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of datagrams between RDMA sockets, as in librdmacm's rsocket. Not thread safe.
 *
 * <p>If the queue pair of a peer is unknown, a datagram to it is sent over a UDP socket with the same port (the
 * companion), after a header with the sender's queue pair. This message is a question. The peer answers over UDP with a
 * header that contains its own queue pair. All later datagrams are sent from queue pair to queue pair. There are no
 * retransmissions, as with UDP: the next datagram repeats a lost question.
 *
 * <p>In addition to librdmacm: if nothing was received from a peer for {@value #CONFIRM_NANOS} ns, the next datagram
 * asks it again, so that a restarted peer is found. A datagram that is longer than the path MTU allows is sent over
 * UDP. A datagram is accepted only from the queue pair that was announced for its address and port over UDP, where the
 * operating system prevents the use of another process's port (decision 015).
 *
 * <p>The {@code on…} methods receive the input. The calls send the output to {@link DatagramNetwork} and
 * {@link DatagramPath}.
 */
public final class DatagramProtocol {
    /** The time in nanoseconds without a datagram from a peer after which it is asked again. */
    static final long CONFIRM_NANOS = 2_000_000_000L;

    /** Maximum number of peers in each group. */
    static final int MAX_PEERS = 4096;

    private static final int IPV6_SOURCE_AT = 8;
    private static final int IPV4_SOURCE_AT = 32;
    private static final int IPV4_HEADER_AT = 20;

    private final DatagramNetwork network;
    private final int maxCopies;
    private final PeerTable peers = new PeerTable(MAX_PEERS);
    private final List<LocalEnd> ends = new ArrayList<>();
    private final ArrayDeque<Arrival> arrivals = new ArrayDeque<>();
    private final ByteBuffer message = ByteBuffer.allocate(DatagramSizes.SLOT_BYTES);
    private final Map<Drop, Long> dropped = new EnumMap<>(Drop.class);
    private @Nullable DatagramAddress connected;
    private @Nullable DatagramPeer lastSender;
    /** Datagrams in {@link #arrivals} that occupy no slot of an end. */
    private int copies;

    private long questions;

    /** Creates the protocol of one socket. */
    public DatagramProtocol(DatagramSizes sizes, DatagramNetwork network) {
        this.network = network;
        maxCopies = sizes.receiveSlots();
    }

    /**
     * Returns the maximum payload of a datagram to or from an address of the family, such that it fits over UDP and
     * RDMA.
     */
    public static int maxPayloadBytes(boolean isIpv4) {
        return DatagramSizes.SLOT_BYTES - (isIpv4 ? CompanionHeader.IPV4_LENGTH : CompanionHeader.IPV6_LENGTH);
    }

    /** Adds a local end to the socket. */
    public void add(LocalEnd end) {
        ends.add(end);
    }

    /**
     * Removes a local end that has failed. Its received datagrams stay available; its outstanding sends are lost. Its
     * peers are asked again with the next datagram to them, which announces the queue pair of the replacing end.
     */
    public void remove(LocalEnd end) {
        ends.remove(end);
        lastSender = null;
        peers.forEach(peer -> peer.leave(end));
        for (int i = arrivals.size(); i > 0; i--) {
            Arrival arrival = arrivals.remove();
            if (arrival.end() == end) {
                arrival = arrival.copy();
                copies++;
            }
            arrivals.add(arrival);
        }
    }

    /** Restricts the socket to a peer and drops queued datagrams from others; null for no restriction. */
    public void connect(@Nullable DatagramAddress peer) {
        connected = peer;
        if (peer != null) {
            arrivals.removeIf(arrival -> dropIfForeign(arrival, peer));
        }
    }

    private boolean dropIfForeign(Arrival arrival, DatagramAddress peer) {
        if (arrival.source().equals(peer)) {
            return false;
        }
        drop(Drop.FOREIGN);
        release(arrival);
        return true;
    }

    // ---- sending

    /**
     * Sends a datagram. Its bytes are copied, and the position is advanced to the limit.
     *
     * @param data at most {@link #maxPayloadBytes}
     * @param nowNanos the time of any monotonic clock
     * @return false if there is no free send slot; then nothing has changed
     */
    public boolean send(ByteBuffer data, DatagramAddress to, long nowNanos) {
        DatagramPeer peer = peers.recipient(to);
        LocalEnd end = endFor(peer, true);
        if (end == null) {
            return false;
        }
        if (peer.isToBeAsked(nowNanos, CONFIRM_NANOS)) {
            ask(peer, end, data, nowNanos);
            return true;
        }
        DatagramPath path = peer.path();
        if (path == null) {
            path = network.path(end, to);
            peer.path(path);
        }
        int length = end.headerBytes() + data.remaining();
        if (length > path.maxBytes()) {
            ask(peer, end, data, nowNanos);
            return true;
        }
        if (!end.canSend()) {
            return false;
        }
        post(end, path, data, length, peer.queuePairNumber());
        return true;
    }

    private static void post(LocalEnd end, DatagramPath path, ByteBuffer data, int length, int queuePairNumber) {
        int slot = end.fill(data);
        boolean posted = false;
        try {
            path.send(slot, length, queuePairNumber);
            posted = true;
        } finally {
            if (!posted) {
                end.freeSend(slot);
            }
        }
        data.position(data.limit());
    }

    private @Nullable LocalEnd endFor(DatagramPeer peer, boolean wanted) {
        LocalEnd end = peer.end();
        if (end == null) {
            end = network.localEnd(peer.address(), wanted);
            if (end != null) {
                peer.end(end);
            }
        }
        return end;
    }

    private void ask(DatagramPeer peer, LocalEnd end, ByteBuffer data, long nowNanos) {
        peer.asked(nowNanos);
        questions++;
        message.clear();
        end.companionHeader(CompanionHeader.DATA).write(message);
        message.put(data).flip();
        sendMessage(peer);
    }

    private void answer(DatagramPeer peer, LocalEnd end) {
        message.clear();
        end.companionHeader(CompanionHeader.CONTROL).write(message);
        message.flip();
        sendMessage(peer);
    }

    private void sendMessage(DatagramPeer peer) {
        if (!network.sendCompanion(message, peer.address())) {
            drop(Drop.NOT_SENT);
        }
    }

    /** Frees a send slot of a local end after its send has completed or failed. */
    public void onSent(LocalEnd end, int slot) {
        end.freeSend(slot);
    }

    /** Returns whether every local end has a free send slot. */
    public boolean canSend() {
        for (LocalEnd end : ends) {
            if (!end.canSend()) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether no send is outstanding. */
    public boolean isQuiet() {
        for (LocalEnd end : ends) {
            if (!end.isQuiet()) {
                return false;
            }
        }
        return true;
    }

    // ---- input

    /**
     * Handles a message of the UDP socket.
     *
     * @param from the source address that the operating system reports
     * @param in the message from position to limit; valid during the call
     */
    public void onCompanion(DatagramAddress from, ByteBuffer in, long nowNanos) {
        lastSender = null; // the message may change or remove it
        CompanionHeader header = CompanionHeader.parse(in);
        if (header == null
                || header.isIpv4() != from.isIpv4()
                || !DatagramPeer.isNumber(header.queuePairNumber())
                || in.remaining() > maxPayloadBytes(from.isIpv4())) {
            drop(Drop.MALFORMED);
        } else if (connected != null && !connected.equals(from)) {
            drop(Drop.FOREIGN);
        } else if (header.operation() == CompanionHeader.CONTROL) {
            onAnswer(from, header.queuePairNumber(), nowNanos);
        } else {
            onQuestion(from, header.queuePairNumber(), in, nowNanos);
        }
    }

    private void onAnswer(DatagramAddress from, int queuePairNumber, long nowNanos) {
        DatagramPeer peer = peers.find(from);
        if (peer == null || !peer.owesAnswer(nowNanos, CONFIRM_NANOS)) {
            drop(Drop.UNSOLICITED);
            return;
        }
        peer.answered();
        peer.learn(queuePairNumber, nowNanos);
    }

    private void onQuestion(DatagramAddress from, int queuePairNumber, ByteBuffer data, long nowNanos) {
        DatagramPeer peer = peers.asker(from);
        LocalEnd end = endFor(peer, false);
        if (end == null) {
            drop(Drop.NO_ROOM);
            return;
        }
        peer.learn(queuePairNumber, nowNanos);
        answer(peer, end);
        if (copies >= maxCopies) {
            drop(Drop.NO_ROOM);
            return;
        }
        copies++;
        arrivals.add(new Arrival(data, peer.address()));
    }

    /**
     * Handles a datagram received by a queue pair.
     *
     * @param end the local end of the queue pair
     * @param slot the receive slot; the datagram starts after {@link LocalEnd#ROUTE_BYTES}
     * @param length the number of bytes, route bytes included
     * @param hasRoute true if the route bytes are the header of the IP packet
     * @param queuePairNumber the sender's queue pair
     */
    public void onReceived(LocalEnd end, int slot, int length, boolean hasRoute, int queuePairNumber, long nowNanos) {
        Drop why = take(end, slot, length - LocalEnd.ROUTE_BYTES, hasRoute, queuePairNumber, nowNanos);
        if (why != null) {
            drop(why);
            end.postReceive(slot);
        }
    }

    private @Nullable Drop take(
            LocalEnd end, int slot, int length, boolean hasRoute, int queuePairNumber, long nowNanos) {
        ByteBuffer in = end.received();
        int route = end.receivedAt(slot);
        int at = route + LocalEnd.ROUTE_BYTES;
        DatagramHeader header = DatagramHeader.parse(in, at, length);
        if (header == null || length > DatagramSizes.SLOT_BYTES || header.port() == 0) {
            return Drop.MALFORMED;
        }
        if (hasRoute && !isFrom(in, route, header)) {
            return Drop.FORGED;
        }
        DatagramPeer peer = sender(header, end);
        if (peer != null && peer.queuePairNumber() != queuePairNumber && peer.owesAnswer(nowNanos, CONFIRM_NANOS)) {
            network.readCompanion(); // its answer may have arrived before this datagram
            peer = sender(header, end);
        }
        if (peer == null || peer.queuePairNumber() != queuePairNumber) {
            return Drop.UNKNOWN_SENDER;
        }
        if (connected != null && !connected.equals(peer.address())) {
            return Drop.FOREIGN;
        }
        peer.learn(queuePairNumber, nowNanos);
        peers.onDatagram(peer);
        int before = LocalEnd.ROUTE_BYTES + header.length();
        arrivals.add(end.arrival(slot).set(before, length - header.length(), peer.address()));
        return null;
    }

    /** Returns whether the IP header and the datagram header contain the same source address. */
    private static boolean isFrom(ByteBuffer in, int route, DatagramHeader header) {
        if (header.isIpv4()) {
            return in.get(route + IPV4_HEADER_AT) >>> 4 == 4
                    && Gid.ipv4Low(in.getInt(route + IPV4_SOURCE_AT)) == header.addressLow();
        }
        return in.get(route) >>> 4 == 6
                && in.getLong(route + IPV6_SOURCE_AT) == header.addressHigh()
                && in.getLong(route + IPV6_SOURCE_AT + Long.BYTES) == header.addressLow();
    }

    /** Returns the sender of a datagram, which is usually the sender of the previous one. */
    private @Nullable DatagramPeer sender(DatagramHeader header, LocalEnd end) {
        DatagramPeer last = lastSender;
        if (last == null
                || last.group() == null
                || last.end() != end
                || !last.address().isOf(header)) {
            last = peers.find(DatagramAddress.of(header, end.address()));
            lastSender = last;
        }
        return last;
    }

    // ---- receiving

    /** Returns whether a datagram can be received. */
    public boolean canReceive() {
        return !arrivals.isEmpty();
    }

    /**
     * Receives the next datagram. If it does not fit into the buffer, the rest is discarded.
     *
     * @param leave true to leave the datagram queued
     * @return the address of the sender; null if no datagram is queued
     */
    public @Nullable DatagramAddress receive(ByteBuffer target, boolean leave) {
        Arrival next = arrivals.peek();
        if (next == null) {
            return null;
        }
        next.copyTo(target);
        if (!leave) {
            arrivals.remove();
            release(next);
        }
        return next.source();
    }

    /** Frees the memory of an arrival, so that its slot can receive again. */
    private void release(Arrival arrival) {
        LocalEnd end = arrival.end();
        if (end == null) {
            copies--;
        } else {
            end.postReceive(arrival.slot());
        }
    }

    // ---- counters and end

    private void drop(Drop why) {
        dropped.merge(why, 1L, Long::sum);
    }

    /** Returns the number of messages dropped for a reason. */
    public long dropped(Drop why) {
        return dropped.getOrDefault(why, 0L);
    }

    /** Returns the number of datagrams sent over UDP. */
    public long questions() {
        return questions;
    }

    /** Returns the number of known peers. */
    public int peerCount() {
        return peers.size();
    }

    /** Removes all peers and closes their paths. */
    public void close() {
        peers.clear();
        lastSender = null;
    }
}
