package io.rdma4j.transport;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the unreliable connection service, without I/O: SEND and RDMA WRITE, with or without immediate data.
 * Nothing is acknowledged. A send work request is complete when its last packet was written. A received message with a
 * missing or unacceptable packet is dropped as a whole, although a WRITE may have been partially executed.
 *
 * <p>A send work request that cannot be sent completes with an error and moves the queue pair to
 * {@link QueuePairState#SEND_QUEUE_ERROR}, in which it still receives.
 *
 * <p>Source: InfiniBand Architecture volume 1, 9.8.2 and 9.8.3.
 */
public final class UcQueuePair extends QueuePairMachine {
    private final MemoryTable memory;
    private final UcResponder responder;
    private @Nullable Peer peer;
    private int mtu = 256;
    private int sendPsn;

    /** Index of the next packet in the oldest send work request. */
    private int packetIndex;

    /**
     * Creates a queue pair in the state {@link QueuePairState#RESET}.
     *
     * @param number number of the queue pair, 24 bits
     * @param configuration creation parameters
     * @param memory table of the regions that it may access
     * @param sendCompletions sink for send completions
     * @param receiveCompletions sink for receive completions; may be the same
     * @param events listener for events
     */
    public UcQueuePair(
            int number,
            Configuration configuration,
            MemoryTable memory,
            CompletionSink sendCompletions,
            CompletionSink receiveCompletions,
            Events events) {
        super(number, configuration, sendCompletions, receiveCompletions, events);
        this.memory = memory;
        responder = new UcResponder(this, memory);
    }

    @Override
    public Opcode.Transport transport() {
        return Opcode.Transport.UC;
    }

    /**
     * Moves from INIT to READY_TO_RECEIVE.
     *
     * @param path path to the peer
     * @param pathMtuBytes payload bytes of a full packet: 256, 512, 1024, 2048 or 4096
     * @param receivePsn the peer's first PSN, 24 bits
     * @throws IllegalArgumentException if a parameter is out of range; the state is unchanged
     */
    public void toReadyToReceive(Peer path, int pathMtuBytes, int receivePsn) {
        require(state() == QueuePairState.INIT, QueuePairState.READY_TO_RECEIVE);
        checkMtu(pathMtuBytes);
        check(receivePsn >>> Psn.BITS == 0, "receive PSN", receivePsn);
        check(path.queuePairNumber() >>> 24 == 0, "peer's queue pair number", path.queuePairNumber());
        peer = path;
        mtu = pathMtuBytes;
        responder.start(pathMtuBytes, receivePsn);
        congestion.start();
        enter(QueuePairState.READY_TO_RECEIVE);
    }

    /**
     * Moves from READY_TO_RECEIVE to READY_TO_SEND.
     *
     * @param psn first PSN to send, 24 bits
     * @throws IllegalArgumentException if it is out of range; the state is unchanged
     */
    public void toReadyToSend(int psn) {
        require(state() == QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND);
        check(psn >>> Psn.BITS == 0, "send PSN", psn);
        sendPsn = psn;
        packetIndex = 0;
        enter(QueuePairState.READY_TO_SEND);
    }

    /** Changes the path to the same queue pair of the peer; in SEND_QUEUE_DRAINED once nothing is in flight. */
    public void changePath(Peer path) {
        require(state() == QueuePairState.SEND_QUEUE_DRAINED && !isDraining(), QueuePairState.SEND_QUEUE_DRAINED);
        peerCheck.restart();
        peer = path;
    }

    @Override
    public @Nullable Peer peer() {
        return peer;
    }

    @Override
    long roundTripNanos() {
        return 0;
    }

    // ---- receiving ----

    @Override
    boolean isAcceptable(long nowNanos, Packet packet) {
        Peer from = peer;
        if (from == null || !isReceiving()) {
            counters.badState++;
            return false;
        }
        return peerCheck.isFromPeer(nowNanos, packet, from);
    }

    @Override
    boolean process(long nowNanos, Packet packet) {
        boolean isExpected = packet.psn() == receivePsn();
        if (isExpected) {
            onExpectedRequest();
        }
        boolean isProcessed = responder.onRequest(packet);
        if (isProcessed && isExpected && peerCheck.isLearning()) {
            peerCheck.learn(packet);
        }
        return isProcessed;
    }

    // ---- sending ----

    @Override
    public int pollTransmit(long nowNanos, MemorySegment out, long at) {
        Peer to = peer;
        if (to == null) {
            return 0;
        }
        int notification = congestion.pollNotification(nowNanos, to.queuePairNumber(), out, at);
        if (notification > 0) {
            return notification;
        }
        boolean hasPayload = completeLocal();
        if (!congestion.rate().maySend(nowNanos, hasPayload) || !hasPayload) {
            return 0;
        }
        int written = writeNext(to, out, at);
        if (written > 0) {
            congestion.rate().onSent(nowNanos, written);
        }
        return written;
    }

    /** Writes the next packet of the oldest send work request. */
    private int writeNext(Peer to, MemorySegment out, long at) {
        SendRequest r = sendQueue.at(sendQueue.head());
        if (packetIndex == 0) {
            CompletionStatus failure = validate(r);
            if (failure != null) {
                failOldest(failure);
                return 0;
            }
            r.packets = PayloadPackets.count(r, mtu);
        }
        boolean isLast = packetIndex == r.packets - 1;
        Opcode opcode = RequestOpcodes.unreliable(r.opcode, packetIndex == 0, isLast);
        int written = PayloadPackets.write(
                r, protectionDomain(), packetIndex, mtu, opcode, to.queuePairNumber(), false, sendPsn, out, at);
        if (written == 0) {
            failOldest(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return 0;
        }
        sendPsn++;
        packetIndex++;
        counters.sentPackets++;
        if (isLast) {
            packetIndex = 0;
            completeSend(r, CompletionStatus.SUCCESS);
        }
        return written;
    }

    /** Executes local work requests at the head of the queue. Returns whether a work request to send follows. */
    private boolean completeLocal() {
        if (hasBegun()) {
            return isSending() && !sendQueue.isEmpty();
        }
        while (isReadyToSend() && !sendQueue.isEmpty()) {
            SendRequest r = sendQueue.at(sendQueue.head());
            if (!r.opcode.isLocal()) {
                return true;
            }
            CompletionStatus failure = LocalOperations.execute(r, this, memory);
            if (failure == null) {
                completeSend(r, CompletionStatus.SUCCESS);
            } else {
                failOldest(failure);
            }
        }
        return false;
    }

    private @Nullable CompletionStatus validate(SendRequest r) {
        if (r.lengthBytes < 0 || r.lengthBytes > MAX_MESSAGE_BYTES) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        if (!r.opcode.carriesPayload() || r.opcode == SendOpcode.SEND_WITH_INVALIDATE) {
            return CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        return PayloadPackets.checkMemory(r, protectionDomain(), 0);
    }

    private void failOldest(CompletionStatus status) {
        packetIndex = 0;
        failUnreliableSend(status);
    }

    @Override
    boolean hasBegun() {
        return packetIndex > 0;
    }

    @Override
    public int sendPsn() {
        return sendPsn & Psn.MASK;
    }

    @Override
    public int receivePsn() {
        return responder.expectedPsn();
    }

    @Override
    public long nextDeadlineNanos() {
        return congestion.rate().deadlineNanos();
    }

    /** Does nothing: a packet that the rate has held back is sent by the next {@link #pollTransmit}. */
    @Override
    public void onDeadline(long nowNanos) {}

    @Override
    void onError(boolean mayRespond) {
        packetIndex = 0;
    }

    @Override
    void onReset() {
        memory.unbindAll(this);
        peer = null;
        packetIndex = 0;
    }
}
