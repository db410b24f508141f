package io.rdma4j.transport;

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
 * A queue pair of the reliable connection service, without I/O: packets and time go in, packets, completions and a
 * deadline come out.
 *
 * <p>Source: InfiniBand Architecture volume 1, chapters 9 (transport) and 10 (verbs); where Linux rdma_rxe differs, what
 * it sends is accepted.
 */
public final class RcQueuePair extends QueuePairMachine {
    /**
     * What {@link #toReadyToReceive} sets.
     *
     * @param peer path to the peer
     * @param pathMtuBytes payload bytes of a full packet: 256, 512, 1024, 2048 or 4096
     * @param receivePsn first PSN that the peer sends with, 24 bits
     * @param maxDestinationReadAtomic READs and atomics that the peer may have in flight, 0 to 128
     * @param minRnrTimerCode code of the time that the peer is asked to wait when no receive is posted, 0 to 31
     */
    public record ReceiveParameters(
            Peer peer, int pathMtuBytes, int receivePsn, int maxDestinationReadAtomic, int minRnrTimerCode) {}

    /**
     * What {@link #toReadyToSend} sets.
     *
     * @param sendPsn first PSN to send with, 24 bits
     * @param maxReadAtomic READs and atomics to have in flight, 0 to 128
     * @param retryCount transmissions after the first before the peer is given up, 0 to 7 (7 means seven)
     * @param rnrRetry the same for receivers that are not ready; 7 means without end
     * @param timeoutExponent the answer is waited for 4.096 µs · 2<sup>exponent</sup>; 0 means without end, at most 31
     * @param repeatsEarly whether packets are also sent again before that, when an answer takes much longer than answers
     *     usually do; such a repetition is no retry. Where the timeout is below 50 ms, a silence costs a retry after
     *     50 ms then, or after four timeouts, which are the most that the specification allows
     */
    public record SendParameters(
            int sendPsn, int maxReadAtomic, int retryCount, int rnrRetry, int timeoutExponent, boolean repeatsEarly) {
        /** Parameters without early repetition: exactly what the specification has. */
        public SendParameters(int sendPsn, int maxReadAtomic, int retryCount, int rnrRetry, int timeoutExponent) {
            this(sendPsn, maxReadAtomic, retryCount, rnrRetry, timeoutExponent, false);
        }

        /** How long the peer may be silent before that costs a retry; {@link Long#MAX_VALUE} without end. */
        public long silenceNanos() {
            return Requester.silenceNanos(Timers.acknowledgeTimeoutNanos(timeoutExponent), repeatsEarly);
        }
    }

    /** What a queue pair does in its connection. */
    public enum Role {
        /** A reliable connection: both sides send and receive. */
        CONNECTED,
        /** The side of an extended reliable connection that sends requests. */
        INITIATOR,
        /** The side of an extended reliable connection that serves requests, with shared receive queues of its domain. */
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

    /** Whether it is the turn of READ answers, where requests wait too. */
    private boolean answersFirst;

    /**
     * Makes a queue pair in the state {@link State#RESET}.
     *
     * @param number its number, 24 bits
     * @param configuration sizes of its queues
     * @param memory regions that it may use
     * @param sendCompletions where send completions go
     * @param receiveCompletions where receive completions go; may be the same
     * @param events where events go
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
     * Makes a queue pair of any role in the state {@link State#RESET}.
     *
     * @param role what it does
     * @param number its number, 24 bits
     * @param configuration sizes of its queues; of a target with the domain of its shared receive queues
     * @param memory regions that it may use
     * @param sendCompletions where send completions go
     * @param receiveCompletions where receive completions go, unless the shared receive queue knows better
     * @param events where events go
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

    /** What {@link #toReadyToReceive} set, or null before. */
    public @Nullable ReceiveParameters receiveParameters() {
        return receiveParameters;
    }

    /** What {@link #toReadyToSend} set, or null before. */
    public @Nullable SendParameters sendParameters() {
        return sendParameters;
    }

    /**
     * From INIT to READY_TO_RECEIVE.
     *
     * @throws IllegalArgumentException if a parameter is out of range; nothing is changed then
     */
    public void toReadyToReceive(ReceiveParameters p) {
        require(state() == State.INIT, State.READY_TO_RECEIVE);
        checkRanges(p);
        receiveParameters = p;
        responder.start(p);
        answersFirst = false;
        enter(State.READY_TO_RECEIVE);
    }

    /**
     * From READY_TO_RECEIVE to READY_TO_SEND.
     *
     * @throws IllegalArgumentException if a parameter is out of range; nothing is changed then
     */
    public void toReadyToSend(SendParameters p) {
        ReceiveParameters path = receiveParameters;
        require(state() == State.READY_TO_RECEIVE && path != null, State.READY_TO_SEND);
        checkRanges(p);
        sendParameters = p;
        if (path != null) {
            requester.start(path, p);
        }
        enter(State.READY_TO_SEND);
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
     * Changes the time that the peer is asked to wait when no receive is posted, from READY_TO_RECEIVE on.
     *
     * @param code code of the time, 0 to 31
     */
    public void changeMinRnrTimer(int code) {
        check(code >>> 5 == 0, "RNR timer code", code);
        responder.answers().rnrTimer(code);
    }

    /**
     * Changes what may change in SEND_QUEUE_DRAINED, once nothing is under way: the path to the same queue pair, time-outs,
     * retries and depths. PSNs and the path MTU stay.
     *
     * @throws IllegalArgumentException if a parameter is out of range; nothing is changed then
     */
    public void change(ReceiveParameters receive, SendParameters send) {
        require(state() == State.SEND_QUEUE_DRAINED && !isDraining(), State.SEND_QUEUE_DRAINED);
        checkRanges(receive);
        checkRanges(send);
        receiveParameters = receive;
        sendParameters = send;
        peerCheck.restart();
        responder.change(receive);
        requester.change(send);
    }

    /**
     * Has the peer asked whether it is there whenever nothing has come from it for a while and nothing is under way, in the
     * states that send. One that does not answer as often as a request would be repeated is given up: ERROR, with {@link
     * QueuePairEvent#QUEUE_PAIR_FATAL}. No work request takes part, and no packet sequence number: a packet is sent again
     * that the peer has had already, if without content, and such packets are acknowledged. Ends with a reset.
     *
     * @param intervalNanos how long; 0 for never, as in the beginning
     * @throws IllegalArgumentException if it is negative, or this is an extended connection
     */
    public void keepAlive(long nowNanos, long intervalNanos) {
        if (intervalNanos < 0 || isExtended()) {
            throw new IllegalArgumentException("interval " + intervalNanos + " ns for " + role);
        }
        idleProbe.start(nowNanos, intervalNanos);
    }

    /** What {@link #keepAlive} has set. */
    public long keepAliveNanos() {
        return idleProbe.intervalNanos();
    }

    /** What it does in its connection. */
    public Role role() {
        return role;
    }

    boolean isExtended() {
        return role != Role.CONNECTED;
    }

    @Override
    public Opcode.Transport transport() {
        return isExtended() ? Opcode.Transport.XRC : Opcode.Transport.RC;
    }

    @Override
    boolean process(long nowNanos, Packet packet) {
        boolean isTaken = peerCheck.isLearning() ? processFirst(nowNanos, packet) : processNext(nowNanos, packet);
        return idleProbe.isOn() && idleProbe.onReceived(nowNanos) || isTaken;
    }

    private boolean processNext(long nowNanos, Packet packet) {
        return packet.opcode().isRequest()
                ? responder.onRequest(nowNanos, packet)
                : completer.onResponse(nowNanos, packet);
    }

    /** The same while the peer's UDP port is not known: the packet tells it if it is the one that is due. */
    private boolean processFirst(long nowNanos, Packet packet) {
        int due = receivePsn();
        boolean isTaken = processNext(nowNanos, packet);
        if (isTaken && (!packet.opcode().isRequest() || receivePsn() != due)) {
            peerCheck.learn(packet);
        }
        return isTaken;
    }

    @Override
    void onError(boolean mayAnswer) {
        if (mayAnswer) {
            responder.answers().limitResponses();
        } else {
            responder.answers().clearResponses();
        }
    }

    @Override
    void onReset() {
        idleProbe.stop();
        responder.answers().clear();
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
        return isOfTransport(packet) && peerCheck.isFromPeer(nowNanos, packet, p.peer()) && isOfPartition(packet);
    }

    @Override
    public int pollTransmit(long nowNanos, MemorySegment out, long at) {
        ResponseQueue answers = responder.answers();
        int written = 0;
        if (answersFirst || !isSending()) {
            written = answers.pollResponse(out, at);
            answersFirst = false;
        }
        if (written == 0 && isSending()) {
            written = requester.pollTransmit(nowNanos, out, at);
            answersFirst = written > 0 && answers.hasResponse();
        }
        if (written == 0) {
            written = answers.pollResponse(out, at);
        }
        if (written == 0) {
            written = answers.pollAcknowledge(out, at);
        }
        if (written == 0 && idleProbe.takeDue() && isSending()) {
            written = writeProbe(out, at);
        }
        if (written > 0) {
            counters.sentPackets++;
        }
        return written;
    }

    @Override
    boolean hasBegun() {
        return requester.hasBegun();
    }

    @Override
    public int sendPsn() {
        return (int) requester.sentEnd() & Psn.MASK;
    }

    @Override
    public int receivePsn() {
        return responder.expectedPsn();
    }

    @Override
    public long nextDeadlineNanos() {
        return isSending() ? Math.min(requester.nextDeadlineNanos(), idleProbe.deadlineNanos()) : Requester.NEVER;
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
        boolean isWatched = requester.unacked() != requester.sentEnd();
        switch (idleProbe.onDeadline(nowNanos, isWatched, p.retryCount(), p.silenceNanos())) {
            case WAIT -> {}
            case PROBE -> counters.idleProbes++;
            case GIVE_UP -> {
                counters.retryExceededErrors++;
                failWith(QueuePairEvent.QUEUE_PAIR_FATAL);
            }
        }
    }

    /**
     * A WRITE of nothing, with the number before the oldest that is not acknowledged: a peer takes it for a repetition, which
     * it acknowledges and does not look at.
     */
    private int writeProbe(MemorySegment out, long at) {
        Opcode opcode = Opcode.RC_WRITE_ONLY;
        int peerNumber = Objects.requireNonNull(receiveParameters).peer().queuePairNumber();
        int psn = (int) requester.unacked() - 1 & Psn.MASK;
        Bth.write(out, at, opcode.code(), false, 0, PARTITION_KEY, peerNumber, true, psn);
        Reth.write(out, at + opcode.extensionOffset(), 0, 0, 0);
        return opcode.headerLength();
    }
}
