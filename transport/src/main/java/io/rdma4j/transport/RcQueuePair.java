package io.rdma4j.transport;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the reliable connection service, without I/O: packets and time go in, packets, completions and a
 * deadline come out.
 *
 * <p><b>Driving it.</b> One thread at a time calls everything except the queues' {@code claim} and {@code publish}. After
 * any {@code on…} call, state change or post, call {@link #pollTransmit} until it returns 0, then read
 * {@link #nextDeadlineNanos} again. Give all packets that have already arrived to {@link #onPacket} before calling
 * {@link #onDeadline}: after a pause of the driver the answer may lie in the socket, and a timer that fires first would
 * send everything twice or give up for nothing.
 *
 * <p><b>Time</b> is a monotonic number of nanoseconds that the caller brings.
 *
 * <p>Sinks and {@link Events} are called from inside these methods and must not call back, with one exception:
 * {@link #toError} may be called from a {@link CompletionSink}.
 *
 * <p>Source: InfiniBand Architecture volume 1, chapters 9 (transport) and 10 (verbs); where Linux rdma_rxe differs, what
 * it sends is accepted.
 */
public final class RcQueuePair {
    /** Room that {@link #pollTransmit} needs beside the path MTU, in bytes. */
    public static final int HEADER_ROOM_BYTES = 64;

    /** The default partition, the only one that software devices have. */
    static final int PARTITION_KEY = 0xffff;

    private static final int PARTITION = 0x7fff;

    /**
     * What a queue pair is made with.
     *
     * @param maxSendRequests places of the send queue
     * @param maxReceiveRequests places of the receive queue
     * @param maxSendScatterGather pieces of one send work request
     * @param maxReceiveScatterGather pieces of one receive work request
     * @param maxInlineBytes bytes that a send work request can carry itself
     * @param signalAll whether every success of the send queue is reported ({@code sq_sig_all})
     * @param protectionDomain number of the protection domain
     */
    public record Configuration(
            int maxSendRequests,
            int maxReceiveRequests,
            int maxSendScatterGather,
            int maxReceiveScatterGather,
            int maxInlineBytes,
            boolean signalAll,
            int protectionDomain) {}

    /** States, as in {@code ibv_qp_state}. */
    public enum State {
        /** Nothing is possible but to initialise. */
        RESET,
        /** Receives may be posted; packets are dropped. */
        INIT,
        /** Requests of the peer are served. */
        READY_TO_RECEIVE,
        /** Everything works. */
        READY_TO_SEND,
        /** All work is flushed; packets are dropped. */
        ERROR
    }

    /**
     * The path to the peer; addresses in GID form as in {@link io.rdma4j.wire.Frame}.
     *
     * @param localHigh own address, upper half
     * @param localLow own address, lower half
     * @param remoteHigh peer's address, upper half
     * @param remoteLow peer's address, lower half
     * @param remoteScope interface number of a link-local peer address; 0 for others
     * @param queuePairNumber peer's queue pair, 24 bits
     * @param trafficClass IPv4 type of service or IPv6 traffic class
     * @param hopLimit IPv4 time to live or IPv6 hop limit
     * @param flowLabel number that the UDP source port is made of, 20 bits
     */
    public record Peer(
            long localHigh,
            long localLow,
            long remoteHigh,
            long remoteLow,
            int remoteScope,
            int queuePairNumber,
            int trafficClass,
            int hopLimit,
            int flowLabel) {}

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
     */
    public record SendParameters(int sendPsn, int maxReadAtomic, int retryCount, int rnrRetry, int timeoutExponent) {}

    /** Where events of the queue pair go. */
    @FunctionalInterface
    public interface Events {
        /** Takes an event. */
        void onAsyncEvent(AsyncEvent event);
    }

    private final int number;
    private final Configuration configuration;
    private final CompletionSink sendCompletions;
    private final CompletionSink receiveCompletions;
    private final Events events;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final QueuePairCounters counters = new QueuePairCounters();
    private final Completion completion = new Completion();

    private final Requester requester;
    private final Completer completer;
    private final Responder responder;

    private State state = State.RESET;
    private int accessFlags;
    private @Nullable ReceiveParameters receiveParameters;
    private @Nullable SendParameters sendParameters;

    /** Whether the peer's first packet was reported. */
    private boolean wasHeard;

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
        this.number = number;
        this.configuration = configuration;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.events = events;
        sendQueue = new SendQueue(
                configuration.maxSendRequests(), configuration.maxSendScatterGather(), configuration.maxInlineBytes());
        receiveQueue = new ReceiveQueue(configuration.maxReceiveRequests(), configuration.maxReceiveScatterGather());
        requester = new Requester(this, sendQueue, counters);
        completer = new Completer(this, requester, sendQueue, counters);
        responder = new Responder(this, memory, receiveQueue, counters);
    }

    /** Number of the queue pair, 24 bits. */
    public int number() {
        return number;
    }

    /** What the queue pair was made with. */
    public Configuration configuration() {
        return configuration;
    }

    /** State. */
    public State state() {
        return state;
    }

    /** What the peer may do, bits of {@link AccessFlags}. */
    public int accessFlags() {
        return accessFlags;
    }

    /** What {@link #toReadyToReceive} set, or null before. */
    public @Nullable ReceiveParameters receiveParameters() {
        return receiveParameters;
    }

    /** What {@link #toReadyToSend} set, or null before. */
    public @Nullable SendParameters sendParameters() {
        return sendParameters;
    }

    /** Where send work requests are posted. */
    public SendQueue sendQueue() {
        return sendQueue;
    }

    /** Where receive work requests are posted. */
    public ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    /** Counters. */
    public QueuePairCounters counters() {
        return counters;
    }

    /**
     * From RESET to INIT; in INIT, sets the rights again.
     *
     * @param flags what the peer may do, bits of {@link AccessFlags}
     */
    public void toInit(int flags) {
        require(state == State.RESET || state == State.INIT, State.INIT);
        accessFlags = flags;
        state = State.INIT;
    }

    /**
     * From INIT to READY_TO_RECEIVE.
     *
     * @throws IllegalArgumentException if a parameter is out of range; nothing is changed then
     */
    public void toReadyToReceive(ReceiveParameters p) {
        require(state == State.INIT, State.READY_TO_RECEIVE);
        int mtu = p.pathMtuBytes();
        check(mtu >= 256 && mtu <= 4096 && Integer.bitCount(mtu) == 1, "path MTU", mtu);
        check(p.receivePsn() >>> 24 == 0, "receive PSN", p.receivePsn());
        check(
                p.peer().queuePairNumber() >>> 24 == 0,
                "peer's queue pair number",
                p.peer().queuePairNumber());
        check(p.maxDestinationReadAtomic() >>> 8 == 0, "incoming READ depth", p.maxDestinationReadAtomic());
        check(p.minRnrTimerCode() >>> 5 == 0, "RNR timer code", p.minRnrTimerCode());
        receiveParameters = p;
        responder.start(p);
        answersFirst = false;
        wasHeard = false;
        state = State.READY_TO_RECEIVE;
    }

    /**
     * From READY_TO_RECEIVE to READY_TO_SEND.
     *
     * @throws IllegalArgumentException if a parameter is out of range; nothing is changed then
     */
    public void toReadyToSend(SendParameters p) {
        ReceiveParameters path = receiveParameters;
        require(state == State.READY_TO_RECEIVE && path != null, State.READY_TO_SEND);
        check(p.sendPsn() >>> 24 == 0, "send PSN", p.sendPsn());
        check(p.maxReadAtomic() >>> 8 == 0, "outgoing READ depth", p.maxReadAtomic());
        check(p.retryCount() >>> 3 == 0, "retry count", p.retryCount());
        check(p.rnrRetry() >>> 3 == 0, "RNR retry count", p.rnrRetry());
        check(p.timeoutExponent() >>> 5 == 0, "timeout exponent", p.timeoutExponent());
        sendParameters = p;
        if (path != null) {
            requester.start(path, p);
        }
        state = State.READY_TO_SEND;
    }

    /**
     * Changes what the peer may do, in any state but RESET.
     *
     * @param flags bits of {@link AccessFlags}
     */
    public void changeAccess(int flags) {
        require(state != State.RESET, state);
        accessFlags = flags;
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
     * From any state to ERROR: completes everything posted with {@link WorkStatus#WORK_REQUEST_FLUSHED_ERROR}. An
     * acknowledgement already owed to the peer is still sent, so that it learns what was executed.
     */
    public void toError() {
        if (state != State.ERROR) {
            state = State.ERROR;
            responder.answers().clearResponses();
        }
        flush();
    }

    /** From any state to RESET: forgets everything posted, without completions. */
    public void reset() {
        sendQueue.clear();
        receiveQueue.clear();
        responder.answers().clear();
        receiveParameters = null;
        sendParameters = null;
        accessFlags = 0;
        state = State.RESET;
    }

    /** In ERROR, completes what was posted since; else does nothing. To be called after every post in ERROR. */
    public void flush() {
        if (state != State.ERROR) {
            return;
        }
        while (sendQueue.head() != sendQueue.tail()) {
            completeSend(sendQueue.at(sendQueue.head()), WorkStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
        ReceiveRequest receive;
        while ((receive = receiveQueue.peek()) != null) {
            failReceive(receive, WorkStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
    }

    /**
     * Takes a packet for this queue pair.
     *
     * @param nowNanos time
     * @param packet parsed, with a correct ICRC, its frame's addresses filled in; used during the call only
     */
    public void onPacket(long nowNanos, Packet packet) {
        counters.receivedPackets++;
        if (isAcceptable(packet)
                && (packet.opcode().isRequest() ? onRequest(packet) : completer.onResponse(nowNanos, packet))) {
            counters.processedPackets++;
        } else {
            counters.droppedPackets++;
        }
    }

    private boolean isAcceptable(Packet packet) {
        ReceiveParameters p = receiveParameters;
        boolean isServed = packet.opcode().isRequest() && state == State.READY_TO_RECEIVE;
        if (p == null || !(isServed || state == State.READY_TO_SEND)) {
            counters.badState++;
            return false;
        }
        if (packet.opcode().transport() != Opcode.Transport.RC) {
            counters.badOpcode++;
            return false;
        }
        Frame frame = packet.frame();
        Peer peer = p.peer();
        if (frame.sourceLow != peer.remoteLow()
                || frame.sourceHigh != peer.remoteHigh()
                || frame.destinationLow != peer.localLow()
                || frame.destinationHigh != peer.localHigh()) {
            counters.badSource++;
            return false;
        }
        if ((packet.partitionKey() & PARTITION) != PARTITION) { // full and limited members of the default partition
            counters.badPartitionKey++;
            return false;
        }
        return true;
    }

    private boolean onRequest(Packet packet) {
        if (state == State.READY_TO_RECEIVE && !wasHeard) {
            wasHeard = true;
            events.onAsyncEvent(AsyncEvent.COMMUNICATION_ESTABLISHED);
        }
        return responder.onRequest(packet);
    }

    /**
     * Writes the next packet to send, from its BTH to its padding, without ICRC.
     *
     * @param nowNanos time
     * @param out memory with room for the path MTU and {@link #HEADER_ROOM_BYTES} at {@code at}
     * @param at where the BTH goes
     * @return bytes written; 0 when there is nothing to send now
     */
    public int pollTransmit(long nowNanos, MemorySegment out, long at) {
        Answers answers = responder.answers();
        int written = 0;
        if (answersFirst || state != State.READY_TO_SEND) {
            written = answers.pollResponse(out, at);
            answersFirst = false;
        }
        if (written == 0 && state == State.READY_TO_SEND) {
            written = requester.pollTransmit(nowNanos, out, at);
            answersFirst = written > 0 && answers.hasResponse();
        }
        if (written == 0) {
            written = answers.pollResponse(out, at);
        }
        if (written == 0) {
            written = answers.pollAcknowledge(out, at);
        }
        if (written > 0) {
            counters.sentPackets++;
        }
        return written;
    }

    /** When {@link #onDeadline} is to be called; {@link Long#MAX_VALUE} for never. */
    public long nextDeadlineNanos() {
        return state == State.READY_TO_SEND ? requester.nextDeadlineNanos() : Requester.NEVER;
    }

    /** Lets time-outs happen. To be called when the time of {@link #nextDeadlineNanos} has come; earlier does nothing. */
    public void onDeadline(long nowNanos) {
        if (state == State.READY_TO_SEND) {
            requester.onDeadline(nowNanos);
        }
    }

    // ---- for the parts ----

    int protectionDomain() {
        return configuration.protectionDomain();
    }

    boolean peerMay(int access) {
        return (accessFlags & access) == access;
    }

    boolean isReadyToSend() {
        return state == State.READY_TO_SEND;
    }

    /** Ends the oldest send work request with an error, and with it the connection. */
    void failSend(WorkStatus status) {
        if (state == State.READY_TO_SEND && !sendQueue.isEmpty()) {
            completeSend(sendQueue.at(sendQueue.head()), status);
            toError();
        }
    }

    /** Ends the connection because of a request of the peer; what was decided to answer is still sent. */
    void failAsResponder(@Nullable AsyncEvent event) {
        state = State.ERROR;
        if (event != null) {
            events.onAsyncEvent(event);
        }
        flush();
    }

    /** Reports the oldest send work request if it has to be, and gives its place back. */
    void completeSend(SendRequest request, WorkStatus status) {
        Completion c = completion;
        c.workRequestId = request.workRequestId;
        c.status = status;
        c.queuePairNumber = number;
        c.isReceive = false;
        c.opcode = request.opcode;
        c.isReceiveOfWrite = false;
        c.byteLength = request.lengthBytes;
        c.hasImmediate = false;
        c.hasInvalidatedKey = false;
        c.solicited = status != WorkStatus.SUCCESS;
        boolean reported = request.signaled || configuration.signalAll() || status != WorkStatus.SUCCESS;
        sendQueue.release();
        if (status == WorkStatus.SUCCESS) {
            counters.completedSends++;
        }
        if (reported) {
            sendCompletions.onCompletion(c);
        }
    }

    /** Ends a receive with success; the packet is the last of its message. */
    void completeReceive(ReceiveRequest request, Packet packet, long bytes) {
        Opcode opcode = packet.opcode();
        Completion c = completion;
        c.workRequestId = request.workRequestId;
        c.status = WorkStatus.SUCCESS;
        c.queuePairNumber = number;
        c.isReceive = true;
        c.isReceiveOfWrite = opcode.isWrite();
        c.byteLength = bytes;
        c.hasImmediate = opcode.hasImmediate();
        c.immediate = c.hasImmediate ? packet.immediate() : 0;
        c.hasInvalidatedKey = false;
        c.solicited = packet.solicited();
        receiveQueue.release();
        counters.completedReceives++;
        receiveCompletions.onCompletion(c);
    }

    /** Ends a receive without success. */
    void failReceive(ReceiveRequest request, WorkStatus status) {
        Completion c = completion;
        c.workRequestId = request.workRequestId;
        c.status = status;
        c.queuePairNumber = number;
        c.isReceive = true;
        c.isReceiveOfWrite = false;
        c.byteLength = 0;
        c.hasImmediate = false;
        c.hasInvalidatedKey = false;
        c.solicited = true;
        receiveQueue.release();
        receiveCompletions.onCompletion(c);
    }

    private void require(boolean allowed, State wanted) {
        if (!allowed) {
            throw new IllegalStateException(
                    "queue pair 0x" + Integer.toHexString(number) + " cannot go from " + state + " to " + wanted);
        }
    }

    private static void check(boolean inRange, String what, int value) {
        if (!inRange) {
            throw new IllegalArgumentException(what + " out of range: " + value);
        }
    }
}
