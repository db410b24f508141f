package io.rdma4j.transport;

import io.rdma4j.value.Gid;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Two queue pairs of an unreliable connection; the test transfers the packets between them. */
final class UcPair {
    static final int MTU = 1024;
    static final int SEND_PSN = 0xff_fffe; // wraps around within the first messages

    /** One side of the connection, with its memory and completions. */
    static final class Side {
        final MemoryTable memory;
        final UcQueuePair queuePair;
        final List<Pair.Done> done = new ArrayList<>();
        final List<QueuePairEvent> events = new ArrayList<>();
        final long low;

        Side(int number, @Nullable SharedReceiveQueue shared) {
            Random keys = new Random(number);
            memory = new MemoryTable(keys::nextInt);
            low = Gid.ipv4Low(0x0a58_0000 | number);
            queuePair = new UcQueuePair(
                    number,
                    new QueuePairMachine.Configuration(8, 8, 4, 4, 64, false, Pair.PD, shared, null),
                    memory,
                    this::take,
                    this::take,
                    events::add);
        }

        private void take(Completion c) {
            done.add(new Pair.Done(
                    c.workRequestId,
                    c.status,
                    c.isReceive,
                    c.opcode,
                    c.isReceiveOfWrite,
                    c.byteLength,
                    c.hasImmediate,
                    c.immediate,
                    c.solicited));
        }

        MemoryRegion register(byte[] bytes, int access) {
            return memory.register(MemorySegment.ofArray(bytes), 0x7000_0000_0000L, access, Pair.PD);
        }

        void postReceive(long id, MemoryRegion region, long length) {
            ReceiveRequest r = Objects.requireNonNull(queuePair.receiveQueue().claim());
            r.workRequestId = id;
            r.list.add(region, 0, length);
            queuePair.receiveQueue().publish();
        }

        /** Posts a signaled work request of the first bytes of a region; WRITEs go to {@code target}. */
        void post(long id, SendOpcode opcode, MemoryRegion region, long length, MemoryRegion target) {
            SendRequest r = Objects.requireNonNull(queuePair.sendQueue().claim());
            r.workRequestId = id;
            r.opcode = opcode;
            r.signaled = true;
            r.immediate = (int) id;
            r.remoteAddress = target.address();
            r.remoteKey = target.key();
            r.list.add(region, 0, length);
            r.lengthBytes = length;
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
    }

    final Side a = new Side(0x11, null);
    final Side b;

    UcPair() {
        this(null);
    }

    /** Creates a pair whose side B takes its receives from a shared queue, or from its own if {@code null}. */
    UcPair(@Nullable SharedReceiveQueue sharedB) {
        b = new Side(0x22, sharedB);
        connect(a, b, 5);
        connect(b, a, SEND_PSN);
    }

    private static void connect(Side side, Side peer, int receivePsn) {
        side.queuePair.toInit(Pair.ALL_ACCESS);
        side.queuePair.toReadyToReceive(
                new QueuePairMachine.Peer(0, side.low, 0, peer.low, 0, peer.queuePair.number(), 0, 64, 0),
                MTU,
                receivePsn);
        side.queuePair.toReadyToSend(peer.queuePair.number() == 0x22 ? SEND_PSN : 5);
    }

    /** Delivers packets of A to B. */
    void deliver(List<byte[]> packets) {
        packets.forEach(packet -> deliver(packet, a.low));
    }

    void deliver(byte[] bytes, long sourceLow) {
        byte[] whole = Arrays.copyOf(bytes, bytes.length + Packet.ICRC_LENGTH);
        Frame f = new Frame();
        f.segment = MemorySegment.ofArray(whole);
        f.buffer = ByteBuffer.wrap(whole);
        f.length = whole.length;
        f.sourceLow = sourceLow;
        f.destinationLow = b.low;
        Packet packet = new Packet();
        if (packet.parse(f) != Packet.Result.OK) {
            throw new AssertionError("malformed packet");
        }
        b.queuePair.onPacket(0, packet);
    }

    static Opcode opcode(byte[] packet) {
        return Objects.requireNonNull(Opcode.of(Bth.opcode(MemorySegment.ofArray(packet), 0)));
    }
}
