package io.rdma4j.transport;

import io.rdma4j.value.QueuePairState;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Timers;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the reliable connection service, without I/O. Packets and the time are passed in; packets,
 * completions and a deadline come out.
 *
 * <p>Source: InfiniBand Architecture volume 1, chapters 9 (transport) and 10 (verbs). Deviating packets of Linux
 * rdma_rxe are accepted.
 */
public final class RcQueuePair extends QueuePairMachine {
    /**
     * Parameters of {@link #toReadyToReceive}.
     *
     * @param peer path to the peer
     * @param pathMtuBytes payload bytes of a full packet: 256, 512, 1024, 2048 or 4096
     * @param receivePsn the peer's first PSN, 24 bits
     * @param maxDestinationReadAtomic maximum number of READs and atomics that the peer may have in flight, 0 to 255
     * @param minRnrTimerCode code of the delay requested from the peer when no receive is posted, 0 to 31
     */
    public record ReceiveParameters(
            Peer peer, int pathMtuBytes, int receivePsn, int maxDestinationReadAtomic, int minRnrTimerCode) {}

    /**
     * Parameters of {@link #toReadyToSend}.
     *
     * @param sendPsn first PSN to send, 24 bits
     * @param maxReadAtomic maximum number of READs and atomics in flight, 0 to 255
     * @param retryCount number of retransmissions before the connection fails, 0 to 7 (7 means seven)
     * @param rnrRetry number of retries after RNR NAKs, 0 to 7; 7 means unlimited
     * @param timeoutExponent retransmission timeout: 4.096 µs · 2<sup>exponent</sup>, at most 31; 0 means no timeout
     * @param tailLossProbes {@code true} to also send tail-loss probes, when a response takes much longer than usual; a
     *     probe does not count as a retry. If the timeout is below 50 ms, a retry is then consumed after a silence of
     *     50 ms or four timeouts, whichever is shorter; four is the maximum that the specification allows
     */
    public record SendParameters(
            int sendPsn, int maxReadAtomic, int retryCount, int rnrRetry, int timeoutExponent, boolean tailLossProbes) {
        /** Creates parameters without tail-loss probes, which follow the specification exactly. */
        public SendParameters(int sendPsn, int maxReadAtomic, int retryCount, int rnrRetry, int timeoutExponent) {
            this(sendPsn, maxReadAtomic, retryCount, rnrRetry, timeoutExponent, false);
        }

        /** Returns how long the peer may be silent before a retry is consumed; {@link Long#MAX_VALUE} for no limit. */
        public long retryTimeoutNanos() {
            return RetransmissionTimers.retryTimeoutNanos(
                    Timers.acknowledgeTimeoutNanos(timeoutExponent), tailLossProbes);
        }
    }

    /** The role of a queue pair in its connection (decision 012). */
    public enum Role {
        /** Reliable connection: both sides send and receive. */
        CONNECTED,
        /** Side of an extended reliable connection that sends requests. */
        INITIATOR,
        /** Side of an extended reliable connection that serves requests, with shared receive queues of its domain. */
        TARGET
    }

    private final Role role;
    private final MemoryTable memory;
    private final Requester requester;
    private final Completer completer;
    private final Responder responder;
    private final IdleProbe idleProbe = new IdleProbe();

    private @Nullable ReceiveParameters receiveParameters;
    private @Nullable SendParameters sendParameters;

    /** True if READ and atomic responses take precedence over requests in the next poll. */
    private boolean responsesFirst;

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
    public RcQueuePair(
            int number,
            Configuration configuration,
            MemoryTable memory,
            CompletionSink sendCompletions,
            CompletionSink receiveCompletions,
            Events events) {
        this(Role.CONNECTED, number, configuration, memory, sendCompletions, receiveCompletions, events);
    }

    /**
     * Creates a queue pair of any role in the state {@link QueuePairState#RESET}.
     *
     * @param role role in the connection
     * @param number number of the queue pair, 24 bits
     * @param configuration creation parameters; for a target with the domain of its shared receive queues
     * @param memory table of the regions that it may access
     * @param sendCompletions sink for send completions
     * @param receiveCompletions sink for receive completions, unless the shared receive queue has its own
     * @param events listener for events
     */
    public RcQueuePair(
            Role role,
            int number,
            Configuration configuration,
            MemoryTable memory,
            CompletionSink sendCompletions,
            CompletionSink receiveCompletions,
            Events events) {
        super(number, configuration, sendCompletions, receiveCompletions, events);
        this.role = role;
        this.memory = memory;
        requester = new Requester(this, memory, sendQueue, counters);
        completer = new Completer(this, requester, sendQueue, counters);
        responder = new Responder(this, memory, receives, counters);
    }

    /** Returns the parameters of {@link #toReadyToReceive}, or null before. */
    public @Nullable ReceiveParameters receiveParameters() {
        return receiveParameters;
    }

    /** Returns the parameters of {@link #toReadyToSend}, or null before. */
    public @Nullable SendParameters sendParameters() {
        return sendParameters;
    }

    /**
     * Moves from INIT to READY_TO_RECEIVE.
     *
     * @throws IllegalArgumentException if a parameter is out of range; the state is unchanged
     */
    public void toReadyToReceive(ReceiveParameters p) {
        require(state() == QueuePairState.INIT, QueuePairState.READY_TO_RECEIVE);
        checkRanges(p);
        receiveParameters = p;
        responder.start(p);
        congestion.start();
        responsesFirst = false;
        enter(QueuePairState.READY_TO_RECEIVE);
    }

    /**
     * Moves from READY_TO_RECEIVE to READY_TO_SEND.
     *
     * @throws IllegalArgumentException if a parameter is out of range; the state is unchanged
     */
    public void toReadyToSend(SendParameters p) {
        ReceiveParameters path = receiveParameters;
        require(state() == QueuePairState.READY_TO_RECEIVE && path != null, QueuePairState.READY_TO_SEND);
        checkRanges(p);
        sendParameters = p;
        if (path != null) {
            requester.start(path, p);
        }
        enter(QueuePairState.READY_TO_SEND);
    }

    private static void checkRanges(ReceiveParameters p) {
        checkMtu(p.pathMtuBytes());
        check(p.receivePsn() >>> Psn.BITS == 0, "receive PSN", p.receivePsn());
        check(
                p.peer().queuePairNumber() >>> 24 == 0,
                "peer's queue pair number",
                p.peer().queuePairNumber());
        check(p.maxDestinationReadAtomic() >>> 8 == 0, "incoming READ depth", p.maxDestinationReadAtomic());
        check(p.minRnrTimerCode() >>> 5 == 0, "RNR timer code", p.minRnrTimerCode());
    }

    private static void checkRanges(SendParameters p) {
        check(p.sendPsn() >>> Psn.BITS == 0, "send PSN", p.sendPsn());
        check(p.maxReadAtomic() >>> 8 == 0, "outgoing READ depth", p.maxReadAtomic());
        check(p.retryCount() >>> 3 == 0, "retry count", p.retryCount());
        check(p.rnrRetry() >>> 3 == 0, "RNR retry count", p.rnrRetry());
        check(p.timeoutExponent() >>> 5 == 0, "timeout exponent", p.timeoutExponent());
    }

    /**
     * Changes the delay requested from the peer when no receive is posted; from READY_TO_RECEIVE on.
     *
     * @param code code of the delay, 0 to 31
     */
    public void changeMinRnrTimer(int code) {
        check(code >>> 5 == 0, "RNR timer code", code);
        responder.responses().rnrTimer(code);
    }

    /**
     * Changes the parameters that may change in SEND_QUEUE_DRAINED once nothing is in flight. These are the path to the
     * same queue pair, timeouts, retries and depths. PSNs and the path MTU do not change.
     *
     * @throws IllegalArgumentException if a parameter is out of range; nothing is changed
     */
    public void change(ReceiveParameters receive, SendParameters send) {
        require(state() == QueuePairState.SEND_QUEUE_DRAINED && !isDraining(), QueuePairState.SEND_QUEUE_DRAINED);
        checkRanges(receive);
        checkRanges(send);
        receiveParameters = receive;
        sendParameters = send;
        peerCheck.restart();
        responder.change(receive);
        requester.change(send);
    }

    /**
     * Probes the peer whenever nothing was received from it for the interval and no request is in flight, while the
     * state allows sending. A peer that does not answer is probed as often as a request would be retransmitted. The
     * queue pair then enters ERROR with {@link QueuePairEvent#QUEUE_PAIR_FATAL}. A probe uses no work request and no
     * new packet sequence number: it is a duplicate of an earlier PSN without payload, which the peer acknowledges. A
     * reset stops probing.
     *
     * @param intervalNanos the interval; 0, the default, disables probing
     * @throws IllegalArgumentException if the interval is negative, or this is an extended connection
     */
    public void keepAlive(long nowNanos, long intervalNanos) {
        if (intervalNanos < 0 || isExtended()) {
            throw new IllegalArgumentException(
                    "keep-alive interval of " + intervalNanos + " ns is not possible for role " + role);
        }
        idleProbe.start(nowNanos, intervalNanos);
    }

    /** Returns the interval set by {@link #keepAlive}. */
    public long keepAliveNanos() {
        return idleProbe.intervalNanos();
    }

    /** Returns the role in the connection. */
    public Role role() {
        return role;
    }

    boolean isExtended() {
        return role != Role.CONNECTED;
    }

    @Override
    public @Nullable Peer peer() {
        ReceiveParameters p = receiveParameters;
        return p == null ? null : p.peer();
    }

    @Override
    public boolean sealsFlushesAsLinux() {
        return requester.sealsFlushesAsLinux();
    }

    @Override
    long roundTripNanos() {
        return requester.roundTripNanos();
    }

    @Override
    public Opcode.Transport transport() {
        return isExtended() ? Opcode.Transport.XRC : Opcode.Transport.RC;
    }

    @Override
    boolean process(long nowNanos, Packet packet) {
        boolean isProcessed = peerCheck.isLearning() ? processFirst(nowNanos, packet) : processNext(nowNanos, packet);
        return idleProbe.isOn() && idleProbe.onReceived(nowNanos) || isProcessed;
    }

    private boolean processNext(long nowNanos, Packet packet) {
        return packet.opcode().isRequest()
                ? responder.onRequest(nowNanos, packet)
                : completer.onResponse(nowNanos, packet);
    }

    /**
     * Processes a packet while the peer's UDP port is not known. The port is learned from a packet with the expected
     * PSN.
     */
    private boolean processFirst(long nowNanos, Packet packet) {
        int expectedPsn = receivePsn();
        boolean isProcessed = processNext(nowNanos, packet);
        if (isProcessed && (!packet.opcode().isRequest() || receivePsn() != expectedPsn)) {
            peerCheck.learn(packet);
        }
        return isProcessed;
    }

    @Override
    void onError(boolean mayRespond) {
        if (mayRespond) {
            responder.responses().limitResponses();
        } else {
            responder.responses().clearResponses();
        }
    }

    @Override
    void onReset() {
        idleProbe.stop();
        responder.responses().clear();
        memory.unbindAll(this);
        receiveParameters = null;
        sendParameters = null;
    }

    @Override
    boolean isAcceptable(long nowNanos, Packet packet) {
        ReceiveParameters p = receiveParameters;
        if (p == null || !(packet.opcode().isRequest() ? isReceiving() : isSending())) {
            counters.badState++;
            return false;
        }
        if (role == Role.INITIATOR && packet.opcode().isRequest()) {
            counters.badOpcode++;
            return false;
        }
        return peerCheck.isFromPeer(nowNanos, packet, p.peer());
    }

    @Override
    public int pollTransmit(long nowNanos, MemorySegment out, long at) {
        ReceiveParameters p = receiveParameters;
        if (p == null) {
            return 0;
        }
        int notification = congestion.pollNotification(nowNanos, p.peer().queuePairNumber(), out, at);
        if (notification > 0) {
            return notification;
        }
        SendRate rate = congestion.rate();
        boolean isHeldBack = rate.isPaced() && !rate.maySend(nowNanos, hasPayload());
        int written = isHeldBack ? pollUnlimited(out, at) : pollNext(nowNanos, out, at);
        if (written > 0) {
            rate.onSent(nowNanos, written);
            counters.sentPackets++;
        }
        return written;
    }

    private boolean hasPayload() {
        return requester.hasMore() || responder.responses().hasResponse();
    }

    /** Writes an acknowledgement, which no rate holds back, unless it would pass a READ response that is held back. */
    private int pollUnlimited(MemorySegment out, long at) {
        ResponseQueue responses = responder.responses();
        return responses.hasResponse() ? 0 : responses.pollAcknowledge(out, at);
    }

    private int pollNext(long nowNanos, MemorySegment out, long at) {
        ResponseQueue responses = responder.responses();
        int written = 0;
        if (responsesFirst || !isSending()) {
            written = responses.pollResponse(out, at);
            responsesFirst = false;
        }
        if (written == 0 && isSending()) {
            written = requester.pollTransmit(nowNanos, out, at);
            responsesFirst = written > 0 && responses.hasResponse();
        }
        if (written == 0) {
            written = responses.pollResponse(out, at);
        }
        if (written == 0) {
            written = responses.pollAcknowledge(out, at);
        }
        if (written == 0 && idleProbe.takeDue() && isSending()) {
            written = writeProbe(out, at);
        }
        return written;
    }

    @Override
    boolean hasBegun() {
        return requester.hasBegun();
    }

    @Override
    public int sendPsn() {
        return (int) requester.window().sentEnd() & Psn.MASK;
    }

    @Override
    public int receivePsn() {
        return responder.expectedPsn();
    }

    @Override
    public long nextDeadlineNanos() {
        long paced = congestion.rate().deadlineNanos();
        return isSending()
                ? Math.min(paced, Math.min(requester.nextDeadlineNanos(), idleProbe.deadlineNanos()))
                : paced;
    }

    @Override
    public void onDeadline(long nowNanos) {
        if (isSending()) {
            requester.onDeadline(nowNanos);
        }
        if (isSending() && nowNanos >= idleProbe.deadlineNanos()) {
            onIdle(nowNanos);
        }
    }

    private void onIdle(long nowNanos) {
        SendParameters p = Objects.requireNonNull(sendParameters);
        boolean isInFlight = !requester.window().isAcknowledged();
        switch (idleProbe.onDeadline(nowNanos, isInFlight, p.retryCount(), p.retryTimeoutNanos())) {
            case WAIT -> {}
            case PROBE -> counters.idleProbes++;
            case GIVE_UP -> {
                counters.retryExceededErrors++;
                failWith(QueuePairEvent.QUEUE_PAIR_FATAL);
            }
        }
    }

    /**
     * Writes an empty WRITE with the PSN before the oldest unacknowledged one. The peer treats it as a duplicate, which
     * it acknowledges without processing its content.
     */
    private int writeProbe(MemorySegment out, long at) {
        Opcode opcode = Opcode.RC_WRITE_ONLY;
        int peerNumber = Objects.requireNonNull(receiveParameters).peer().queuePairNumber();
        int psn = (int) requester.window().unacked() - 1 & Psn.MASK;
        Bth.write(out, at, opcode.code(), false, 0, PARTITION_KEY, peerNumber, true, psn);
        Reth.write(out, at + opcode.extensionOffset(), 0, 0, 0);
        return opcode.headerLength();
    }
}
