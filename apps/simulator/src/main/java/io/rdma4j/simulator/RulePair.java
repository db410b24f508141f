package io.rdma4j.simulator;

import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** Two queue pairs of a reliable connection, and filters that see every packet between them and may drop it. */
final class RulePair {
    private static final int MAX_FRAME_BYTES = 4096 + QueuePairMachine.HEADER_ROOM_BYTES + Packet.ICRC_LENGTH;
    private static final int MAX_PACKETS = 100_000;
    private static final int ALL_RIGHTS = AccessFlag.LOCAL_WRITE.bit()
            | AccessFlag.REMOTE_WRITE.bit()
            | AccessFlag.REMOTE_READ.bit()
            | AccessFlag.REMOTE_ATOMIC.bit()
            | AccessFlag.FLUSH_GLOBAL.bit();
    static final int DEPTH = 16;

    /** A completion. */
    record Done(long id, CompletionStatus status, boolean isReceive) {}

    /** The parameters of a connection, equal in both directions except for the path MTU. */
    record Terms(int clientMtu, int serverMtu, int startingPsn, int retryCount, int rnrRetry, int timeout) {}

    /** One end of the connection. */
    static final class End {
        final MemoryTable memory;
        final RcQueuePair queuePair;
        final List<Done> done = new ArrayList<>();
        final long low;

        End(int number, SplittableRandom random) {
            memory = new MemoryTable(random::nextInt);
            low = Gid.ipv4Low(0x0a00_0000 | number);
            queuePair = new RcQueuePair(
                    number,
                    new QueuePairMachine.Configuration(DEPTH, DEPTH, 4, 4, 0, true, 1, null, null),
                    memory,
                    this::onCompletion,
                    this::onCompletion,
                    event -> {});
        }

        private void onCompletion(Completion c) {
            done.add(new Done(c.workRequestId, c.status, c.isReceive));
        }

        /** Registers bytes in a protection domain, with all rights except {@code without}. */
        MemoryRegion register(byte[] bytes, int without, int protectionDomain) {
            return memory.register(
                    MemorySegment.ofArray(bytes), 0x10_0000_0000L, ALL_RIGHTS & ~without, protectionDomain);
        }

        void postReceive(long id, MemoryRegion region, long bytes) {
            ReceiveRequest request = queuePair.receiveQueue().claim();
            if (request == null) {
                throw new SimulationFailure("the receive queue is full");
            }
            request.workRequestId = id;
            request.list.clear();
            request.list.add(region, 0, bytes);
            queuePair.receiveQueue().publish();
        }

        /** Claims the next work request, which the caller may modify before posting it. */
        SendRequest claim(long id, SendOpcode opcode, MemoryRegion region, long bytes) {
            SendRequest request = queuePair.sendQueue().claim();
            if (request == null) {
                throw new SimulationFailure("the send queue is full");
            }
            request.workRequestId = id;
            request.opcode = opcode;
            request.signaled = true;
            request.flushPlacement = PlacementType.GLOBAL.bit();
            request.list.clear();
            request.list.add(region, 0, bytes);
            request.lengthBytes = bytes;
            return request;
        }

        void post(long id, SendOpcode opcode, MemoryRegion region, long bytes) {
            claim(id, opcode, region, bytes);
            queuePair.sendQueue().publish();
        }

        /** Returns the statuses of the sends, or of the receives, in the order of their completion. */
        List<CompletionStatus> statuses(boolean ofReceives) {
            return done.stream()
                    .filter(each -> each.isReceive == ofReceives)
                    .map(Done::status)
                    .toList();
        }
    }

    final End client;
    final End server;
    long nowNanos = 1_000_000_000;

    private final Frame frame = new Frame();
    private final Packet packet = new Packet();

    /** The filters of requests and of responses: each returns whether a packet is delivered. */
    Predicate<Packet> requests = each -> true;

    Predicate<Packet> responses = each -> true;

    RulePair(Terms terms, SplittableRandom random) {
        client = new End(0x11, random.split());
        server = new End(0x12, random.split());
        enable(client, server, terms, terms.clientMtu);
        enable(server, client, terms, terms.serverMtu);
        frame.segment = MemorySegment.ofArray(new byte[MAX_FRAME_BYTES]);
    }

    private static void enable(End end, End peer, Terms terms, int mtu) {
        end.queuePair.toInit(AccessFlag.REMOTE_WRITE.bit()
                | AccessFlag.REMOTE_READ.bit()
                | AccessFlag.REMOTE_ATOMIC.bit()
                | AccessFlag.FLUSH_GLOBAL.bit());
        QueuePairMachine.Peer path =
                new QueuePairMachine.Peer(0, end.low, 0, peer.low, 0, peer.queuePair.number(), 0, 64, 0);
        end.queuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(path, mtu, terms.startingPsn, 4, 1));
        end.queuePair.toReadyToSend(
                new RcQueuePair.SendParameters(terms.startingPsn, 4, terms.retryCount, terms.rnrRetry, terms.timeout));
    }

    /**
     * Delivers all packets that both sides have to send now; time does not advance.
     *
     * <p>Requests arrive one by one, and the server responds to each immediately. Its responses arrive when the client
     * has nothing left to send.
     */
    void exchange() {
        List<byte[]> held = new ArrayList<>();
        int packets = 0;
        do {
            held.clear();
            int bytes;
            while ((bytes = client.queuePair.pollTransmit(nowNanos, frame.segment, 0)) > 0) {
                deliver(client, server, bytes, requests);
                collectResponses(held);
                if (++packets > MAX_PACKETS) {
                    throw new SimulationFailure("the client does not stop sending");
                }
            }
            collectResponses(held);
            for (byte[] response : held) {
                MemorySegment.copy(MemorySegment.ofArray(response), 0, frame.segment, 0, response.length);
                deliver(server, client, response.length, responses);
            }
        } while (!held.isEmpty());
    }

    /** Collects the packets that the server has to send. */
    private void collectResponses(List<byte[]> held) {
        int bytes;
        while ((bytes = server.queuePair.pollTransmit(nowNanos, frame.segment, 0)) > 0) {
            held.add(frame.segment.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
            if (held.size() > MAX_PACKETS) {
                throw new SimulationFailure("the server does not stop sending");
            }
        }
    }

    private void deliver(End from, End to, int bytes, Predicate<Packet> passes) {
        frame.offset = 0;
        frame.length = bytes + Packet.ICRC_LENGTH;
        frame.buffer = ByteBuffer.wrap((byte[]) frame.segment.heapBase().orElseThrow());
        frame.sourceHigh = 0;
        frame.sourceLow = from.low;
        frame.destinationHigh = 0;
        frame.destinationLow = to.low;
        Packet.Result result = packet.parse(frame);
        if (result != Packet.Result.OK) {
            throw new SimulationFailure("a malformed packet: " + result);
        }
        if (passes.test(packet)) {
            to.queuePair.onPacket(nowNanos, packet);
        }
    }

    /** Delivers a forged response of the server to the client. The header bytes are at the start of the segment. */
    void deliverForgedResponse(MemorySegment headers, int bytes) {
        MemorySegment.copy(headers, 0, frame.segment, 0, bytes);
        deliver(server, client, bytes, each -> true);
    }

    /** Exchanges packets and advances the time to the client's next deadline, until it has none. */
    void exchangeUntilIdle() {
        exchange();
        for (int deadlines = 0; client.queuePair.nextDeadlineNanos() != Long.MAX_VALUE; deadlines++) {
            if (deadlines > 1_000) {
                throw new SimulationFailure("deadlines follow each other without end");
            }
            nowNanos = Math.max(nowNanos, client.queuePair.nextDeadlineNanos());
            client.queuePair.onDeadline(nowNanos);
            exchange();
        }
    }
}
