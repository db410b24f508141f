package io.rdma4j.sockets.datagram;

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
 * Datagrams between RDMA sockets. Source: librdmacm's rsocket protocol. Not thread safe.
 *
 * <p>A datagram to a peer whose queue pair is not known goes over a UDP socket that has the same port, behind a header that
 * tells the sender's queue pair. The peer answers on the same way with a header that tells its own; all that follows goes
 * from queue pair to queue pair. Whatever is lost is lost, as with UDP: questions are repeated with the next datagram.
 *
 * <p>Beyond librdmacm: a peer that was not heard of for {@value #CONFIRM_NANOS} ns is asked again with the next datagram, so
 * that one that was started anew is found; a datagram that is longer than the path carries goes over UDP; and a datagram is
 * only taken from the queue pair that made itself known for that address and port on the UDP socket, where the operating
 * system sees to it that nobody uses another's port.
 *
 * <p>What comes in is told by {@code on…}; what goes out goes through {@link DatagramNetwork} and {@link DatagramPath} within
 * the calls.
 */
public final class DatagramProtocol {
    /** For how long a peer's silence means nothing. */
    static final long CONFIRM_NANOS = 2_000_000_000L;

    /** Peers that are remembered, of each kind. */
    static final int MOST_PEERS = 4096;

    private static final int IPV6_SOURCE_AT = 8;
    private static final int IPV4_SOURCE_AT = 32;
    private static final int IPV4_HEADER_AT = 20;
    private static final long MAPPED = 0xffff_0000_0000L;

    private final DatagramNetwork network;
    private final int mostCopies;
    private final PeerTable peers = new PeerTable(MOST_PEERS);
    private final List<LocalEnd> ends = new ArrayList<>();
    private final ArrayDeque<Arrival> arrivals = new ArrayDeque<>();
    private final ByteBuffer message = ByteBuffer.allocate(DatagramSizes.SLOT_BYTES);
    private final Map<Drop, Long> dropped = new EnumMap<>(Drop.class);
    private @Nullable DatagramAddress connected;
    private @Nullable Peer lastSender;
    /** Datagrams in {@link #arrivals} that occupy no slot of an end. */
    private int copies;

    private long questions;

    /** The protocol of one socket. */
    public DatagramProtocol(DatagramSizes sizes, DatagramNetwork network) {
        this.network = network;
        mostCopies = sizes.receiveSlots();
    }

    /** Most bytes of a datagram to or from an address of the family: so many that each fits both ways. */
    public static int mostPayloadBytes(boolean isIpv4) {
        return DatagramSizes.SLOT_BYTES - (isIpv4 ? CompanionHeader.IPV4_LENGTH : CompanionHeader.IPV6_LENGTH);
    }

    /** The socket has a local end more. */
    public void add(LocalEnd end) {
        ends.add(end);
    }

    /**
     * Gives a local end up that cannot be used any more. What it has received waits on, what it was to send is lost, and its
     * peers are asked again with the next datagram to them, which tells them the queue pair of the end that replaces it.
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

    /** From now on only datagrams of this peer are taken, and what waits of others is dropped; null for all. */
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
     * Sends a datagram; its bytes are copied, the position goes to the limit.
     *
     * @param data at most {@link #mostPayloadBytes}
     * @param nowNanos any clock that never goes back
     * @return false if there is no room now; then nothing has happened
     */
    public boolean send(ByteBuffer data, DatagramAddress to, long nowNanos) {
        Peer peer = peers.recipient(to);
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
        if (length > path.mostBytes()) {
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

    private @Nullable LocalEnd endFor(Peer peer, boolean wanted) {
        LocalEnd end = peer.end();
        if (end == null) {
            end = network.localEnd(peer.address(), wanted);
            if (end != null) {
                peer.end(end);
            }
        }
        return end;
    }

    private void ask(Peer peer, LocalEnd end, ByteBuffer data, long nowNanos) {
        peer.asked(nowNanos);
        questions++;
        message.clear();
        end.companionHeader(CompanionHeader.DATA).write(message);
        message.put(data).flip();
        sendMessage(peer);
    }

    private void answer(Peer peer, LocalEnd end) {
        message.clear();
        end.companionHeader(CompanionHeader.CONTROL).write(message);
        message.flip();
        sendMessage(peer);
    }

    private void sendMessage(Peer peer) {
        if (!network.sendCompanion(message, peer.address())) {
            drop(Drop.NOT_SENT);
        }
    }

    /** A slot of a local end is free again: what it held was sent, or never will be. */
    public void onSent(LocalEnd end, int slot) {
        end.freeSend(slot);
    }

    /** Whether there is room for a datagram. */
    public boolean canSend() {
        for (LocalEnd end : ends) {
            if (!end.canSend()) {
                return false;
            }
        }
        return true;
    }

    /** Whether nothing is under way. */
    public boolean isQuiet() {
        for (LocalEnd end : ends) {
            if (!end.isQuiet()) {
                return false;
            }
        }
        return true;
    }

    // ---- what comes

    /**
     * Something has come on the UDP socket.
     *
     * @param from who sent it, as the operating system says
     * @param in from position to limit; valid during the call
     */
    public void onCompanion(DatagramAddress from, ByteBuffer in, long nowNanos) {
        lastSender = null; // it may be told more, or be forgotten
        CompanionHeader header = CompanionHeader.parse(in);
        if (header == null
                || header.isIpv4() != from.isIpv4()
                || !Peer.isNumber(header.queuePairNumber())
                || in.remaining() > mostPayloadBytes(from.isIpv4())) {
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
        Peer peer = peers.find(from);
        if (peer == null || !peer.owesAnswer(nowNanos, CONFIRM_NANOS)) {
            drop(Drop.UNSOLICITED);
            return;
        }
        peer.answered();
        peer.learn(queuePairNumber, nowNanos);
    }

    private void onQuestion(DatagramAddress from, int queuePairNumber, ByteBuffer data, long nowNanos) {
        Peer peer = peers.asker(from);
        LocalEnd end = endFor(peer, false);
        if (end == null) {
            drop(Drop.NO_ROOM);
            return;
        }
        peer.learn(queuePairNumber, nowNanos);
        answer(peer, end);
        if (copies >= mostCopies) {
            drop(Drop.NO_ROOM);
            return;
        }
        copies++;
        arrivals.add(new Arrival(data, peer.address()));
    }

    /**
     * A queue pair has received something.
     *
     * @param end whose it is
     * @param slot where it lies, behind {@link LocalEnd#ROUTE_BYTES}
     * @param length all bytes
     * @param hasRoute whether those first bytes are the header of the IP packet
     * @param queuePairNumber who sent it
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
        Peer peer = sender(header, end);
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

    /** Whether the header of the IP packet names the same address as that of the datagram. */
    private static boolean isFrom(ByteBuffer in, int route, DatagramHeader header) {
        if (header.isIpv4()) {
            return in.get(route + IPV4_HEADER_AT) >>> 4 == 4
                    && (MAPPED | Integer.toUnsignedLong(in.getInt(route + IPV4_SOURCE_AT))) == header.addressLow();
        }
        return in.get(route) >>> 4 == 6
                && in.getLong(route + IPV6_SOURCE_AT) == header.addressHigh()
                && in.getLong(route + IPV6_SOURCE_AT + Long.BYTES) == header.addressLow();
    }

    /** Who sent a datagram; most often the same one as before. */
    private @Nullable Peer sender(DatagramHeader header, LocalEnd end) {
        Peer last = lastSender;
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

    /** Whether a datagram is there. */
    public boolean canReceive() {
        return !arrivals.isEmpty();
    }

    /**
     * Takes the next datagram: as much of it as fits into the buffer; the rest is lost.
     *
     * @param leave whether it stays, to be received again
     * @return who sent it; null if there is none
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

    /** What has arrived is not needed any more: there is room for the next. */
    private void release(Arrival arrival) {
        LocalEnd end = arrival.end();
        if (end == null) {
            copies--;
        } else {
            end.postReceive(arrival.slot());
        }
    }

    // ---- numbers and end

    private void drop(Drop why) {
        dropped.merge(why, 1L, Long::sum);
    }

    /** How many were dropped for a reason. */
    public long dropped(Drop why) {
        return dropped.getOrDefault(why, 0L);
    }

    /** Datagrams that went over UDP. */
    public long questions() {
        return questions;
    }

    /** Peers that are remembered. */
    public int peerCount() {
        return peers.size();
    }

    /** Forgets all peers, and gives their paths up. */
    public void close() {
        peers.clear();
        lastSender = null;
    }
}
