package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The longest messages at the smallest path MTU: half as many packets as there are PSNs. */
class RcBigMessageTest {
    private static final int MTU = 256;
    private static final long PART_PACKETS = SendWindow.WINDOW_BYTES / SendWindow.MIN_PACKET_BYTES;
    private static final long LENGTH = 1L << 31;
    private static final int PIECES = 32;
    private static final int FIRST_PSN = 0xff_fff0;

    private final List<CompletionStatus> statuses = new ArrayList<>();

    /** The lengths of the received messages. */
    private final List<Long> receives = new ArrayList<>();

    private final byte[] room = new byte[MTU + QueuePairMachine.HEADER_ROOM_BYTES];
    private final MemorySegment out = MemorySegment.ofArray(room);
    private final Frame frame = new Frame();
    private final Packet packet = new Packet();
    private RcQueuePair queuePair;
    private MemoryRegion region;

    @BeforeEach
    void connect() {
        MemoryTable memory = new MemoryTable(() -> 5);
        region = memory.register(MemorySegment.ofArray(new byte[(int) (LENGTH / PIECES)]), 0, Pair.ALL_ACCESS, 1);
        QueuePairMachine.Configuration c = new QueuePairMachine.Configuration(2, 2, PIECES, PIECES, 0, true, 1);
        queuePair =
                new RcQueuePair(1, c, memory, d -> statuses.add(d.status), d -> receives.add(d.byteLength), e -> {});
        queuePair.toInit(Pair.ALL_ACCESS);
        queuePair.toReadyToReceive(
                new RcQueuePair.ReceiveParameters(new QueuePairMachine.Peer(0, 1, 0, 2, 0, 2, 0, 64, 0), MTU, 0, 2, 0));
        queuePair.toReadyToSend(new RcQueuePair.SendParameters(FIRST_PSN, 2, 7, 7, 14));
    }

    private void post(SendOpcode opcode) {
        SendRequest r = Objects.requireNonNull(queuePair.sendQueue().claim());
        r.opcode = opcode;
        for (int i = 0; i < PIECES; i++) {
            r.list.add(region, 0, region.lengthBytes());
        }
        r.lengthBytes = LENGTH;
        r.remoteAddress = 0x1000;
        queuePair.sendQueue().publish();
    }

    private void deliverResponse(Opcode opcode, int psn, int payload) {
        deliver(opcode, psn, payload, false);
    }

    private void deliver(Opcode opcode, int psn, int payload, boolean requestsAck) {
        byte[] bytes = frame.buffer.array();
        int length = opcode.headerLength() + payload + Packet.ICRC_LENGTH;
        if (bytes.length < length) {
            bytes = new byte[4096];
            frame.segment = MemorySegment.ofArray(bytes);
            frame.buffer = ByteBuffer.wrap(bytes);
            frame.sourceLow = 2;
            frame.destinationLow = 1;
        }
        frame.length = length;
        Bth.write(frame.segment, 0, opcode.code(), false, 0, 0xffff, 1, requestsAck, psn);
        if (opcode.hasAeth()) {
            Aeth.write(frame.segment, Bth.LENGTH, Aeth.ACK, 0);
        }
        if (packet.parse(frame) != Packet.Result.OK) {
            throw new AssertionError(opcode);
        }
        queuePair.onPacket(0, packet);
    }

    @Test
    void writeOfTwoToThe31BytesSendsEveryPacketOnceInOrder() {
        post(SendOpcode.RDMA_WRITE);
        long packets = 0;
        while (statuses.isEmpty()) {
            int psn = 0;
            while (queuePair.pollTransmit(0, out, 0) > 0) {
                psn = Bth.psn(out, 0);
                if (psn != Psn.plus(FIRST_PSN, (int) packets)) {
                    throw new AssertionError("packet " + packets + " has PSN " + psn);
                }
                packets++;
            }
            deliverResponse(Opcode.RC_ACKNOWLEDGE, psn, 0);
        }
        assertThat(packets).isEqualTo(LENGTH / MTU);
        assertThat(statuses).containsExactly(CompletionStatus.SUCCESS);
    }

    @Test
    void readOfTwoToThe31BytesIsRequestedInContiguousParts() {
        post(SendOpcode.RDMA_READ);
        long requested = 0;
        long delivered = 0;
        while (statuses.isEmpty()) {
            while (queuePair.pollTransmit(0, out, 0) > 0) {
                long part = Reth.dmaLength(out, Bth.LENGTH);
                if (Reth.address(out, Bth.LENGTH) != 0x1000 + requested
                        || Bth.psn(out, 0) != Psn.plus(FIRST_PSN, (int) (requested / MTU))
                        || part > PART_PACKETS * MTU) {
                    throw new AssertionError("part at " + requested);
                }
                requested += part;
            }
            while (delivered < requested && statuses.isEmpty()) {
                boolean endsPart = (delivered / MTU + 1) % PART_PACKETS == 0;
                Opcode opcode = endsPart ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
                deliverResponse(opcode, Psn.plus(FIRST_PSN, (int) (delivered / MTU)), MTU);
                delivered += MTU;
            }
        }
        assertThat(delivered).isEqualTo(LENGTH);
        assertThat(statuses).containsExactly(CompletionStatus.SUCCESS);
    }

    @Test
    void sendOfTwoToThe31BytesIsReceivedAndAcknowledged() {
        ReceiveRequest receive = Objects.requireNonNull(queuePair.receiveQueue().claim());
        for (int i = 0; i < PIECES; i++) {
            receive.list.add(region, 0, region.lengthBytes());
        }
        queuePair.receiveQueue().publish();
        long last = LENGTH / MTU - 1;
        for (long i = 0; i <= last; i++) {
            Opcode opcode = i == 0 ? Opcode.RC_SEND_FIRST : i == last ? Opcode.RC_SEND_LAST : Opcode.RC_SEND_MIDDLE;
            deliver(opcode, (int) i & Psn.MASK, MTU, i == last);
        }
        assertThat(receives).containsExactly(LENGTH);
        assertThat(queuePair.pollTransmit(0, out, 0)).isEqualTo(Opcode.RC_ACKNOWLEDGE.headerLength());
        assertThat(Bth.psn(out, 0)).isEqualTo((int) last);
        assertThat(Aeth.syndrome(out, Bth.LENGTH)).isEqualTo(Aeth.ACK);
    }

    @Test
    void messageLongerThanTwoToThe31BytesIsALocalLengthError() {
        SendRequest r = Objects.requireNonNull(queuePair.sendQueue().claim());
        r.opcode = SendOpcode.RDMA_WRITE;
        r.lengthBytes = LENGTH + 1;
        queuePair.sendQueue().publish();
        assertThat(queuePair.pollTransmit(0, out, 0)).isZero();
        assertThat(statuses).containsExactly(CompletionStatus.LOCAL_LENGTH_ERROR);
    }

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // correctness does not depend on the yield
    void anotherThreadThanTheDriverMayFillTheSendQueue() throws InterruptedException {
        int count = 5_000;
        Thread poster = new Thread(() -> {
            for (int i = 0; i < count && !Thread.currentThread().isInterrupted(); ) {
                SendRequest r = queuePair.sendQueue().claim();
                if (r == null) {
                    Thread.yield(); // the driver may need this processor
                    continue;
                }
                r.opcode = SendOpcode.RDMA_WRITE;
                r.immediate = i;
                r.list.add(region, 0, 4);
                r.lengthBytes = 4;
                queuePair.sendQueue().publish();
                i++;
            }
        });
        poster.start();
        long end = System.nanoTime() + 20_000_000_000L;
        while (statuses.size() < count && System.nanoTime() - end < 0) {
            int psn = -1;
            while (queuePair.pollTransmit(0, out, 0) > 0) {
                psn = Bth.psn(out, 0);
            }
            if (psn >= 0) {
                deliverResponse(Opcode.RC_ACKNOWLEDGE, psn, 0);
            } else {
                Thread.yield();
            }
        }
        poster.interrupt();
        poster.join();
        assertThat(statuses).hasSize(count).containsOnly(CompletionStatus.SUCCESS);
    }
}
