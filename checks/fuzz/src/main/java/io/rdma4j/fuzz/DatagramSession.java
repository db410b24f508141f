package io.rdma4j.fuzz;

import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.sockets.datagram.DatagramNetwork;
import io.rdma4j.sockets.datagram.DatagramPath;
import io.rdma4j.sockets.datagram.DatagramProtocol;
import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.datagram.LocalEnd;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.rsocket.CompanionHeader;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A datagram RDMA socket to which peers send arbitrary bytes, over UDP and between queue pairs.
 *
 * <p>A UDP message causes at most one response, which is not longer. The number of waiting datagrams is bounded, no
 * slot is lost or used twice, and only sent data is received.
 */
final class DatagramSession implements DatagramNetwork {
    private static final int SLOTS = 4;
    private static final int QUEUE_PAIR = 0x77;
    private static final int STRIDE = LocalEnd.ROUTE_BYTES + 4096;
    private static final DatagramSizes SIZES =
            new DatagramSizes(SLOTS, SLOTS, SLOTS * DatagramSizes.SLOT_BYTES, SLOTS * DatagramSizes.SLOT_BYTES, 0);

    private final Script script;
    private final DatagramProtocol protocol = new DatagramProtocol(SIZES, this);
    private final Deque<Integer> sent = new ArrayDeque<>();
    private final Deque<Integer> receives = new ArrayDeque<>();
    private final MemorySegment received = MemorySegment.ofArray(new byte[SLOTS * STRIDE]);
    private final LocalEnd end;
    private final int pathBytes;
    private int responses;
    private int responseBytes;
    private long now = 1_000_000_000L;

    DatagramSession(Script script) {
        this.script = script;
        end = new LocalEnd(
                address(0),
                QUEUE_PAIR,
                SIZES,
                MemorySegment.ofArray(new byte[SLOTS * DatagramSizes.SLOT_BYTES]),
                received,
                STRIDE,
                this::post);
        pathBytes = script.flag() ? 1024 : DatagramSizes.SLOT_BYTES;
        end.postAll();
        protocol.add(end);
    }

    private void post(int slot) {
        Invariant.holds(!receives.contains(slot), "a slot is posted once");
        receives.add(slot);
    }

    /** Returns IPv4 and IPv6 addresses alternately. */
    private static DatagramAddress address(int number) {
        return (number & 1) == 0
                ? new DatagramAddress(0, Gid.ipv4Low(0x0a58_0001 + (number >> 1)), 0, 1 + number)
                : new DatagramAddress(0xfe80L << 48, 1 + (number >> 1), 3, 1 + number);
    }

    void run() {
        while (!script.isAtEnd()) {
            step();
            Invariant.atMost(protocol.peerCount(), 16, "peers, at most eight with two entries each");
        }
        int waiting = 0;
        while (protocol.receive(ByteBuffer.allocate(10), false) != null) {
            Invariant.atMost(++waiting, 2 * SLOTS, "waiting datagrams");
        }
        Invariant.equal(receives.size(), SLOTS, "receive slots posted");
        while (!sent.isEmpty()) {
            protocol.onSent(end, sent.remove());
        }
        Invariant.holds(protocol.isQuiet(), "no slot for sending is lost");
        protocol.close();
    }

    private void step() {
        switch (script.choice(10)) {
            case 0 -> deliverCompanion(address(script.choice(8)), script.run());
            case 1, 2 -> companionMessage();
            case 3 -> deliver(address(script.choice(8)), script.run(), script.near());
            case 4, 5 -> {
                DatagramAddress namedAddress = address(script.choice(8));
                DatagramAddress from = script.flag() ? address(script.choice(8)) : namedAddress;
                deliver(from, datagram(namedAddress, script.run()), script.near());
            }
            case 6 -> send(address(script.choice(8)), script.u16() % DatagramSizes.SLOT_BYTES);
            case 7 -> {
                Integer slot = sent.poll();
                if (slot != null) {
                    protocol.onSent(end, slot);
                }
            }
            case 8 -> {
                ByteBuffer target = ByteBuffer.allocate(script.u8() * 16);
                DatagramAddress from = protocol.receive(target, script.flag());
                Invariant.holds(from != null || target.position() == 0, "no data without a source");
            }
            default -> {
                now += script.u16() * 100_000L;
                if (script.flag()) {
                    int peer = script.choice(9);
                    protocol.connect(peer == 8 ? null : address(peer));
                }
            }
        }
    }

    private void deliverCompanion(DatagramAddress from, byte[] bytes) {
        responses = 0;
        responseBytes = 0;
        protocol.onCompanion(from, ByteBuffer.wrap(bytes), now);
        Invariant.atMost(responses, 1, "responses to one message");
        Invariant.atMost(responseBytes, bytes.length, "bytes of the response");
    }

    private void companionMessage() {
        DatagramAddress namedAddress = address(script.choice(8));
        DatagramAddress from = script.flag() ? address(script.choice(8)) : namedAddress;
        deliverCompanion(from, companionRequest(namedAddress, 1 + script.choice(2), script.near(), script.run()));
    }

    private static byte[] companionRequest(DatagramAddress namedAddress, int operation, int queuePair, byte[] data) {
        int header = namedAddress.isIpv4() ? CompanionHeader.IPV4_LENGTH : CompanionHeader.IPV6_LENGTH;
        ByteBuffer out = ByteBuffer.allocate(header + data.length);
        new CompanionHeader(operation, queuePair & 0xff_ffff, namedAddress.high(), namedAddress.low()).write(out);
        return out.put(data).array();
    }

    private static byte[] datagram(DatagramAddress namedAddress, byte[] data) {
        DatagramHeader header = new DatagramHeader(namedAddress.port(), 0, namedAddress.high(), namedAddress.low());
        ByteBuffer out = ByteBuffer.allocate(header.length() + data.length);
        header.write(out, 0);
        return out.put(header.length(), data).array();
    }

    /** Delivers a packet to the queue pair, truncated to the size of a slot. */
    private void deliver(DatagramAddress from, byte[] bytes, int queuePair) {
        Integer slot = receives.poll();
        if (slot == null) {
            return;
        }
        int length = Math.min(bytes.length, STRIDE - LocalEnd.ROUTE_BYTES);
        ByteBuffer memory = received.asSlice((long) slot * STRIDE, STRIDE).asByteBuffer();
        if (from.isIpv4()) {
            memory.put(20, (byte) 0x45).putInt(32, (int) from.low());
        } else {
            memory.put(0, (byte) 0x60).putLong(8, from.high()).putLong(16, from.low());
        }
        memory.put(LocalEnd.ROUTE_BYTES, bytes, 0, length);
        protocol.onReceived(end, slot, LocalEnd.ROUTE_BYTES + length, script.flag(), queuePair & 0xff_ffff, now);
    }

    private void send(DatagramAddress to, int length) {
        ByteBuffer data = ByteBuffer.allocate(Math.min(length, DatagramProtocol.maxPayloadBytes(to.isIpv4())));
        boolean accepted = protocol.send(data, to, now);
        Invariant.holds(
                accepted != data.hasRemaining() || data.limit() == 0, "a datagram is accepted whole or not at all");
    }

    // ---- network

    @Override
    public @Nullable LocalEnd localEnd(DatagramAddress peer, boolean wanted) {
        return end;
    }

    @Override
    public DatagramPath path(LocalEnd from, DatagramAddress peer) {
        return new DatagramPath() {
            @Override
            public int maxBytes() {
                return pathBytes;
            }

            @Override
            public void send(int slot, int length, int queuePairNumber) {
                Invariant.atMost(length, pathBytes, "bytes of a datagram");
                Invariant.holds(!sent.contains(slot), "a slot is used once");
                sent.add(slot);
            }

            @Override
            public void close() {
                // There is nothing to close.
            }
        };
    }

    @Override
    public boolean sendCompanion(ByteBuffer message, DatagramAddress peer) {
        responses++;
        responseBytes += message.remaining();
        return true;
    }

    @Override
    public void readCompanion() {
        if (script.flag()) {
            companionMessage();
        }
    }

    // ---- seeds

    static Stream<byte[]> seeds() {
        return Stream.of(0, 1).map(peer -> {
            ScriptWriter seed = new ScriptWriter().u8(1, 0);
            for (int i = 0; i < 3; i++) {
                int number = peer + 2 * i;
                seed.u8(6, number).u16(100).u8(1, number, 0, 1, 33).run(new byte[0]); // a request, and its response
                seed.u8(6, number).u16(200).u8(7);
                seed.u8(4, number, 0).run(new byte[50]).u8(33, 1).u8(8, 30, 0);
                seed.u8(1, number, 0, 0, 44).run(new byte[20]).u8(9).u16(60_000).u8(1, number);
            }
            return seed.bytes();
        });
    }
}
