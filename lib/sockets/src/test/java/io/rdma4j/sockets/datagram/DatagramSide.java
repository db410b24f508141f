package io.rdma4j.sockets.datagram;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One socket of a test. Its output is queued, and the test delivers it to the other side or drops it. */
final class DatagramSide implements DatagramNetwork {
    static final int SLOTS = 4;
    static final DatagramSizes SIZES =
            new DatagramSizes(SLOTS, SLOTS, SLOTS * DatagramSizes.SLOT_BYTES, SLOTS * DatagramSizes.SLOT_BYTES, 0);
    private static final int STRIDE = LocalEnd.ROUTE_BYTES + 4096;

    /** A packet in flight: either from a slot, between queue pairs, or without a slot (-1), over UDP. */
    static final class Packet {
        private final DatagramSide from;
        private final DatagramAddress to;
        private final byte[] bytes;
        private final int slot;
        private final int queuePairNumber;

        Packet(DatagramSide from, DatagramAddress to, byte[] bytes, int slot, int queuePairNumber) {
            this.from = from;
            this.to = to;
            this.bytes = bytes;
            this.slot = slot;
            this.queuePairNumber = queuePairNumber;
        }

        DatagramSide from() {
            return from;
        }

        DatagramAddress to() {
            return to;
        }

        byte[] bytes() {
            return bytes;
        }

        int slot() {
            return slot;
        }

        int queuePairNumber() {
            return queuePairNumber;
        }
    }

    final DatagramAddress address;
    final int queuePairNumber;
    final DatagramProtocol protocol = new DatagramProtocol(SIZES, this);
    final ArrayDeque<Packet> packets = new ArrayDeque<>();
    final ArrayDeque<Packet> messages = new ArrayDeque<>();
    /** Messages pending at the UDP socket. */
    final ArrayDeque<Packet> unread = new ArrayDeque<>();

    final ArrayDeque<Integer> receives = new ArrayDeque<>();
    final List<DatagramAddress> closedPaths = new ArrayList<>();
    private final MemorySegment sent = Arena.ofAuto().allocate((long) SLOTS * DatagramSizes.SLOT_BYTES);
    private final MemorySegment received = Arena.ofAuto().allocate((long) SLOTS * STRIDE);
    private final LocalEnd end;
    int pathBytes = DatagramSizes.SLOT_BYTES;
    boolean hasEnd = true;

    DatagramSide(DatagramAddress address, int queuePairNumber) {
        this.address = address;
        this.queuePairNumber = queuePairNumber;
        end = new LocalEnd(address, queuePairNumber, SIZES, sent, received, STRIDE, receives::add);
        end.postAll();
        protocol.add(end);
    }

    /** Returns an IPv4 address reserved for documentation. */
    static DatagramAddress ipv4(int host, int port) {
        return new DatagramAddress(0, 0xffff_c000_0200L | host, 0, port);
    }

    @Override
    public @Nullable LocalEnd localEnd(DatagramAddress peer, boolean wanted) {
        return hasEnd ? end : null;
    }

    @Override
    public DatagramPath path(LocalEnd from, DatagramAddress peer) {
        return new DatagramPath() {
            @Override
            public int maxBytes() {
                return pathBytes;
            }

            @Override
            public void send(int slot, int length, int number) {
                byte[] bytes = sent.asSlice((long) slot * DatagramSizes.SLOT_BYTES, length)
                        .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
                packets.add(new Packet(DatagramSide.this, peer, bytes, slot, number));
            }

            @Override
            public void close() {
                closedPaths.add(peer);
            }
        };
    }

    @Override
    public boolean sendCompanion(ByteBuffer message, DatagramAddress peer) {
        byte[] bytes = new byte[message.remaining()];
        message.get(bytes);
        messages.add(new Packet(this, peer, bytes, -1, 0));
        return true;
    }

    @Override
    public void readCompanion() {
        while (!unread.isEmpty()) {
            onMessage(unread.remove(), 0);
        }
    }

    boolean send(byte[] data, DatagramAddress to, long now) {
        return protocol.send(ByteBuffer.wrap(data), to, now);
    }

    /** Completes the send of the first packet, which frees its slot. */
    Packet takePacket() {
        Packet packet = packets.remove();
        protocol.onSent(end, packet.slot());
        return packet;
    }

    void onMessage(Packet message, long now) {
        protocol.onCompanion(message.from().address, ByteBuffer.wrap(message.bytes()), now);
    }

    void onPacket(Packet packet, long now) {
        if (packet.queuePairNumber() == queuePairNumber) {
            onPacket(packet.bytes(), packet.from().address, packet.from().queuePairNumber, now);
        }
    }

    /** Receives a packet from an address, if a receive is posted. */
    void onPacket(byte[] bytes, DatagramAddress from, int number, long now) {
        Integer slot = receives.poll();
        if (slot == null) {
            return;
        }
        ByteBuffer memory = received.asSlice((long) slot * STRIDE, STRIDE).asByteBuffer();
        if (from.isIpv4()) {
            memory.put(20, (byte) 0x45).putInt(32, (int) from.low());
        } else {
            memory.put(0, (byte) 0x60).putLong(8, from.high()).putLong(16, from.low());
        }
        memory.put(LocalEnd.ROUTE_BYTES, bytes);
        protocol.onReceived(end, slot, LocalEnd.ROUTE_BYTES + bytes.length, true, number, now);
    }

    /** Returns the next datagram, or null. */
    byte @Nullable [] receive() {
        ByteBuffer target = ByteBuffer.allocate(DatagramSizes.SLOT_BYTES);
        return protocol.receive(target, false) == null
                ? null
                : java.util.Arrays.copyOf(target.array(), target.position());
    }
}
