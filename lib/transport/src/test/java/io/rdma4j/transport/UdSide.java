package io.rdma4j.transport;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/** A datagram queue pair with memory; the test transfers the packets. */
final class UdSide {
    static final int MTU = 1024;
    static final int KEY = 0x0123_4567;

    /** The destination of the tests' datagrams, which the transport does not interpret. */
    record NamedDestination(String name) implements DatagramDestination {}

    /** A completion as a value. */
    record Done(
            long id,
            CompletionStatus status,
            boolean isReceive,
            long bytes,
            boolean hasImmediate,
            int immediate,
            int source,
            boolean hasRouteHeader,
            boolean solicited) {}

    final MemoryTable memory;
    final UdQueuePair queuePair;
    final List<Done> done = new ArrayList<>();
    final long high;
    final long low;

    UdSide(int number, long high, long low) {
        this.high = high;
        this.low = low;
        Random keys = new Random(number);
        memory = new MemoryTable(keys::nextInt);
        queuePair = new UdQueuePair(
                number,
                new QueuePairMachine.Configuration(8, 8, 4, 4, 64, false, Pair.PD),
                this::take,
                this::take,
                event -> {});
    }

    /** Creates a side with an IPv4 address. */
    static UdSide ipv4(int number) {
        return new UdSide(number, 0, Gid.ipv4Low(0x0a58_0000 | number));
    }

    /** Moves this side to ready-to-send with the tests' queue key, and returns it. */
    UdSide ready(int psn) {
        queuePair.toInit(0);
        queuePair.changeQueueKey(KEY);
        queuePair.toReadyToReceive(MTU);
        queuePair.toReadyToSend(psn);
        return this;
    }

    private void take(Completion c) {
        done.add(new Done(
                c.workRequestId,
                c.status,
                c.isReceive,
                c.byteLength,
                c.hasImmediate,
                c.immediate,
                c.sourceQueuePair,
                c.hasRouteHeader,
                c.solicited));
    }

    MemoryRegion register(byte[] bytes, int access) {
        return memory.register(MemorySegment.ofArray(bytes), 0x7000_0000_0000L, access, Pair.PD);
    }

    void postReceive(long id, MemoryRegion region, long... pieces) {
        ReceiveRequest r = Objects.requireNonNull(queuePair.receiveQueue().claim());
        r.workRequestId = id;
        long at = 0;
        for (long piece : pieces) {
            r.list.add(region, at, piece);
            at += piece;
        }
        queuePair.receiveQueue().publish();
    }

    /** Claims a signaled SEND of the first bytes of a region, without posting it. */
    SendRequest claim(long id, MemoryRegion region, long length, int to) {
        SendRequest r = Objects.requireNonNull(queuePair.sendQueue().claim());
        r.workRequestId = id;
        r.signaled = true;
        r.list.add(region, 0, length);
        r.lengthBytes = length;
        r.destination = new NamedDestination("there");
        r.remoteQueuePair = to;
        r.queueKey = KEY;
        return r;
    }

    void post() {
        queuePair.sendQueue().publish();
    }

    /** Returns all packets that this side can send now, without ICRC. */
    List<byte[]> sent() {
        byte[] room = new byte[MTU + QueuePairMachine.HEADER_ROOM_BYTES];
        List<byte[]> packets = new ArrayList<>();
        int length;
        while ((length = queuePair.pollTransmit(0, MemorySegment.ofArray(room), 0)) > 0) {
            packets.add(Arrays.copyOf(room, length));
        }
        return packets;
    }

    /** Returns the only packet that this side can send now. */
    byte[] onlySent() {
        List<byte[]> packets = sent();
        if (packets.size() != 1) {
            throw new AssertionError(packets.size() + " packets instead of one");
        }
        return packets.getFirst();
    }

    /** Returns the frame in which a packet arrives at this side. */
    Frame frame(UdSide from, byte[] packet) {
        byte[] whole = Arrays.copyOf(packet, packet.length + Packet.ICRC_LENGTH);
        Frame f = new Frame();
        f.segment = MemorySegment.ofArray(whole);
        f.buffer = ByteBuffer.wrap(whole);
        f.length = whole.length;
        f.sourceHigh = from.high;
        f.sourceLow = from.low;
        f.destinationHigh = high;
        f.destinationLow = low;
        f.identification = 0x4711;
        f.trafficClass = 0x68;
        f.hopLimit = 63;
        return f;
    }

    void receive(UdSide from, byte[] packet) {
        receive(frame(from, packet));
    }

    void receive(Frame frame) {
        Packet parsed = new Packet();
        if (parsed.parse(frame) != Packet.Result.OK) {
            throw new AssertionError("malformed packet");
        }
        queuePair.onPacket(0, parsed);
    }
}
