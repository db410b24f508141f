package io.rdma4j.transport;

import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What queue pairs of all transports have in common: states, the two work queues, completions, and how they are driven.
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
 */
public abstract sealed class QueuePairMachine permits RcQueuePair, UcQueuePair, UdQueuePair {
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
     * @param sharedReceives the queue that receives are taken from, or null for one of its own; with a shared one the own
     *     queue has no place, whatever its sizes say
     * @param extendedDomain for the target of extended connections: where it finds the shared queues that requests name;
     *     null for all others
     */
    public record Configuration(
            int maxSendRequests,
            int maxReceiveRequests,
            int maxSendScatterGather,
            int maxReceiveScatterGather,
            int maxInlineBytes,
            boolean signalAll,
            int protectionDomain,
            @Nullable SharedReceiveQueue sharedReceives,
            @Nullable XrcDomain extendedDomain) {
        /** What a queue pair with a receive queue of its own is made with. */
        public Configuration(
                int maxSendRequests,
                int maxReceiveRequests,
                int maxSendScatterGather,
                int maxReceiveScatterGather,
                int maxInlineBytes,
                boolean signalAll,
                int protectionDomain) {
            this(
                    maxSendRequests,
                    maxReceiveRequests,
                    maxSendScatterGather,
                    maxReceiveScatterGather,
                    maxInlineBytes,
                    signalAll,
                    protectionDomain,
                    null,
                    null);
        }
    }

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
        /** What was begun to be sent is finished, and nothing new is begun; the peer's requests are served. */
        SEND_QUEUE_DRAINED,
        /** An unreliable transport could not send something: sends are flushed, the peer's requests are served. */
        SEND_QUEUE_ERROR,
        /** All work is flushed; packets are dropped. */
        ERROR
    }

    /**
     * The path to the peer of a connection; addresses in GID form as in {@link io.rdma4j.wire.Frame}.
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

    /** Where events of the queue pair go. */
    @FunctionalInterface
    public interface Events {
        /** Takes an event. */
        void onAsyncEvent(QueuePairEvent event);
    }

    private final int number;
    private final Configuration configuration;
    private final CompletionSink sendCompletions;
    private final CompletionSink receiveCompletions;
    final Events events;
    final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    final ReceiveSource receives;
    final QueuePairCounters counters = new QueuePairCounters();
    final PeerCheck peerCheck;
    final Completion completion = new Completion();

    private State state = State.RESET;
    private int accessFlags;

    /** In SEND_QUEUE_DRAINED: whether something that was begun is not finished, and whether its end is to be reported. */
    private boolean isDraining;

    private boolean reportsDrained;

    /** Whether the peer's first packet was reported. */
    private boolean wasHeard;

    /** Whether it was reported that nothing more is taken from the shared queue. */
    private boolean wasLastReported;

    QueuePairMachine(
            int number,
            Configuration configuration,
            CompletionSink sendCompletions,
            CompletionSink receiveCompletions,
            Events events) {
        this.number = number;
        this.configuration = configuration;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.events = events;
        peerCheck = new PeerCheck(counters, events);
        sendQueue = new SendQueue(
                configuration.maxSendRequests(), configuration.maxSendScatterGather(), configuration.maxInlineBytes());
        boolean hasOwn = configuration.sharedReceives() == null && configuration.extendedDomain() == null;
        receiveQueue = hasOwn
                ? new ReceiveQueue(configuration.maxReceiveRequests(), configuration.maxReceiveScatterGather())
                : new ReceiveQueue(0, 0);
        receives = new ReceiveSource(receiveQueue, configuration);
    }

    /** The transport that it speaks: packets of others are dropped. */
    public abstract Opcode.Transport transport();

    /** Number of the queue pair, 24 bits. */
    public final int number() {
        return number;
    }

    /** What the queue pair was made with. */
    public final Configuration configuration() {
        return configuration;
    }

    /** State. */
    public final State state() {
        return state;
    }

    /** What the peer may do, bits of {@link AccessFlags}. */
    public final int accessFlags() {
        return accessFlags;
    }

    /** Where send work requests are posted. */
    public final SendQueue sendQueue() {
        return sendQueue;
    }

    /** Where receive work requests are posted, unless the queue pair uses a shared queue: then this has no place. */
    public final ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    /** Counters. */
    public final QueuePairCounters counters() {
        return counters;
    }

    /**
     * From RESET to INIT; in INIT, sets the rights again.
     *
     * @param flags what the peer may do, bits of {@link AccessFlags}
     */
    public final void toInit(int flags) {
        require(state == State.RESET || state == State.INIT, State.INIT);
        accessFlags = flags;
        state = State.INIT;
    }

    /**
     * Changes what the peer may do, in any state but RESET.
     *
     * @param flags bits of {@link AccessFlags}
     */
    public final void changeAccess(int flags) {
        require(state != State.RESET, state);
        accessFlags = flags;
    }

    /**
     * From any state to ERROR: completes everything posted with {@link WorkStatus#WORK_REQUEST_FLUSHED_ERROR}. An
     * acknowledgement that a reliable connection already owes its peer is still sent: the peer learns what was executed.
     * Answers of READs are not, also when the queue pair has failed before.
     */
    public final void toError() {
        state = State.ERROR;
        isDraining = false;
        onError(false);
        flush();
    }

    /**
     * From READY_TO_SEND to SEND_QUEUE_DRAINED: what was begun is finished, also with all its repetitions; what was not
     * waits, with what is posted from now on, for {@link #resume}.
     *
     * @param reports whether {@link QueuePairEvent#SEND_QUEUE_DRAINED} is reported when nothing is under way any more
     */
    public final void drain(boolean reports) {
        require(state == State.READY_TO_SEND, State.SEND_QUEUE_DRAINED);
        state = State.SEND_QUEUE_DRAINED;
        isDraining = true;
        reportsDrained = reports;
        noteIfDrained();
    }

    /** Whether the state is SEND_QUEUE_DRAINED, but something is still under way. */
    public final boolean isDraining() {
        return isDraining;
    }

    /** Back to READY_TO_SEND, from SEND_QUEUE_DRAINED when nothing is under way any more or from SEND_QUEUE_ERROR. */
    public final void resume() {
        require(
                state == State.SEND_QUEUE_DRAINED && !isDraining || state == State.SEND_QUEUE_ERROR,
                State.READY_TO_SEND);
        state = State.READY_TO_SEND;
    }

    /**
     * Sets what a connection does with packets from another UDP port than its peer's; {@link SourcePortCheck#COUNT} before. To
     * be called before the path is set, since the port is learned anew.
     */
    public final void checkSourcePort(SourcePortCheck check) {
        peerCheck.restart(check);
    }

    private void noteIfDrained() {
        if (isDraining && !hasBegun()) {
            isDraining = false;
            if (reportsDrained) {
                events.onAsyncEvent(QueuePairEvent.SEND_QUEUE_DRAINED);
            }
        }
    }

    /**
     * From any state to ERROR, forgetting everything posted without completions: the step before {@link #reset} for a
     * driver that lets {@link #pollTransmit} send the acknowledgement that may still be owed, and nothing else.
     */
    public final void abandon() {
        sendQueue.clear();
        receives.clear();
        wasLastReported = true;
        toError();
    }

    /** From any state to RESET: forgets everything posted, without completions. */
    public final void reset() {
        sendQueue.clear();
        receives.clear();
        onReset();
        peerCheck.restart();
        accessFlags = 0;
        wasLastReported = false;
        isDraining = false;
        state = State.RESET;
    }

    /**
     * In ERROR, completes what was posted since, in SEND_QUEUE_ERROR the sends of it; else does nothing. To be called
     * after every post in these states. Of a shared queue it completes what this queue pair has taken, and then reports
     * that it takes no more.
     */
    public final void flush() {
        if (state != State.ERROR && state != State.SEND_QUEUE_ERROR) {
            return;
        }
        while (sendQueue.head() != sendQueue.tail()) {
            completeSend(sendQueue.at(sendQueue.head()), WorkStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
        if (state == State.ERROR) {
            flushReceives();
        }
    }

    private void flushReceives() {
        ReceiveRequest receive;
        while ((receive = receives.posted()) != null) {
            failReceive(receive, WorkStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
        if (receives.isShared() && !wasLastReported) {
            wasLastReported = true;
            events.onAsyncEvent(QueuePairEvent.LAST_RECEIVE_REACHED);
        }
    }

    // ---- driving ----

    /**
     * Takes a packet for this queue pair.
     *
     * @param nowNanos time
     * @param packet parsed, with a correct ICRC, its frame's addresses filled in; used during the call only
     */
    public final void onPacket(long nowNanos, Packet packet) {
        counters.receivedPackets++;
        if (isAcceptable(nowNanos, packet) && process(nowNanos, packet)) {
            counters.processedPackets++;
        } else {
            counters.droppedPackets++;
        }
    }

    /** Whether a packet may be looked at: state, transport, addresses and keys; counts why not. */
    abstract boolean isAcceptable(long nowNanos, Packet packet);

    /** Takes a packet that is acceptable; says whether it had an effect or an answer. */
    abstract boolean process(long nowNanos, Packet packet);

    /**
     * Writes the next packet to send, from its BTH to its padding, without ICRC.
     *
     * @param nowNanos time
     * @param out memory with room for the path MTU and {@link #HEADER_ROOM_BYTES} at {@code at}
     * @param at where the BTH goes
     * @return bytes written; 0 when there is nothing to send now
     */
    public abstract int pollTransmit(long nowNanos, MemorySegment out, long at);

    /** When {@link #onDeadline} is to be called; {@link Long#MAX_VALUE} for never. */
    public abstract long nextDeadlineNanos();

    /** Lets time-outs happen. To be called when the time of {@link #nextDeadlineNanos} has come; earlier does nothing. */
    public abstract void onDeadline(long nowNanos);

    // ---- for the transports and their parts ----

    /** Whether a send work request has been begun and is not completed. */
    abstract boolean hasBegun();

    /** PSN of the next packet that was never sent, 24 bits. */
    public abstract int sendPsn();

    /** PSN of the next request that is expected of the peer, 24 bits. */
    public abstract int receivePsn();

    /**
     * The state has become ERROR; the queues are flushed next.
     *
     * @param mayAnswer whether what was decided to answer may still be sent, if it is little
     */
    abstract void onError(boolean mayAnswer);

    /** The state becomes RESET: everything is to be forgotten. */
    abstract void onReset();

    /** Goes to a state whose conditions the transport has checked. */
    final void enter(State next) {
        state = next;
        wasHeard = false;
    }

    /**
     * A request with the PSN that is due has come, so of the connection's peer: the first one is reported if this side cannot
     * send yet.
     */
    final void noteRequest() {
        if (state == State.READY_TO_RECEIVE && !wasHeard) {
            wasHeard = true;
            events.onAsyncEvent(QueuePairEvent.COMMUNICATION_ESTABLISHED);
        }
    }

    /** Whether a packet is of the default partition; full and limited members of it may send. */
    final boolean isOfPartition(Packet packet) {
        if ((packet.partitionKey() & PARTITION) != PARTITION) {
            counters.badPartitionKey++;
            return false;
        }
        return true;
    }

    /** Whether a packet is of this transport. */
    final boolean isOfTransport(Packet packet) {
        if (packet.opcode().transport() != transport()) {
            counters.badOpcode++;
            return false;
        }
        return true;
    }

    final int protectionDomain() {
        return configuration.protectionDomain();
    }

    final boolean peerMay(int access) {
        return (accessFlags & access) == access;
    }

    final boolean isReadyToSend() {
        return state == State.READY_TO_SEND;
    }

    /** Whether what was begun to be sent goes on. */
    final boolean isSending() {
        return state == State.READY_TO_SEND || state == State.SEND_QUEUE_DRAINED;
    }

    /** Whether the peer's requests are served. */
    final boolean isReceiving() {
        return state == State.READY_TO_RECEIVE || isSending() || state == State.SEND_QUEUE_ERROR;
    }

    /** Ends the oldest send work request with an error, and with it the connection. */
    final void failSend(WorkStatus status) {
        if (isSending() && !sendQueue.isEmpty()) {
            isDraining = false;
            completeSend(sendQueue.at(sendQueue.head()), status);
            toError();
        }
    }

    /** Ends the oldest send work request of an unreliable transport with an error; only sending stops. */
    final void failUnreliableSend(WorkStatus status) {
        isDraining = false;
        state = State.SEND_QUEUE_ERROR;
        completeSend(sendQueue.at(sendQueue.head()), status);
        flush();
    }

    /**
     * Ends the connection because of a request of the peer, or its silence. What was decided to answer is still sent, if it
     * is little.
     */
    final void failWith(@Nullable QueuePairEvent event) {
        state = State.ERROR;
        isDraining = false;
        onError(true);
        if (event != null) {
            events.onAsyncEvent(event);
        }
        flush();
    }

    /** Whether a success of a work request is reported, so that somebody may wait for it. */
    final boolean isSignaled(SendRequest request) {
        return request.signaled || configuration.signalAll();
    }

    /** Reports the oldest send work request if it has to be, and gives its place back. */
    final void completeSend(SendRequest request, WorkStatus status) {
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
        c.sourceQueuePair = 0;
        c.hasRouteHeader = false;
        c.solicited = status != WorkStatus.SUCCESS;
        boolean reported = isSignaled(request) || status != WorkStatus.SUCCESS;
        sendQueue.release();
        if (status == WorkStatus.SUCCESS) {
            counters.completedSends++;
        }
        if (reported) {
            report(c, sendCompletions);
        }
        noteIfDrained();
    }

    /** Ends a receive with success; the packet is the last of its message. */
    final void completeReceive(ReceiveRequest request, Packet packet, long bytes) {
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
        c.hasInvalidatedKey = opcode.hasIeth();
        c.invalidatedKey = c.hasInvalidatedKey ? packet.invalidateKey() : 0;
        c.sourceQueuePair = 0;
        c.hasRouteHeader = false;
        c.solicited = packet.solicited();
        CompletionSink sink = receives.completions(receiveCompletions);
        receives.release();
        counters.completedReceives++;
        report(c, sink);
    }

    /** Ends the receive of a datagram with success. */
    final void completeDatagram(ReceiveRequest request, Packet packet, long bytes) {
        Opcode opcode = packet.opcode();
        Completion c = completion;
        c.workRequestId = request.workRequestId;
        c.status = WorkStatus.SUCCESS;
        c.queuePairNumber = number;
        c.isReceive = true;
        c.isReceiveOfWrite = false;
        c.byteLength = bytes;
        c.hasImmediate = opcode.hasImmediate();
        c.immediate = c.hasImmediate ? packet.immediate() : 0;
        c.hasInvalidatedKey = false;
        c.sourceQueuePair = Deth.sourceQueuePair(packet.segment(), packet.dethOffset());
        c.hasRouteHeader = true;
        c.solicited = packet.solicited();
        CompletionSink sink = receives.completions(receiveCompletions);
        receives.release();
        counters.completedReceives++;
        report(c, sink);
    }

    /** Ends a receive without success. */
    final void failReceive(ReceiveRequest request, WorkStatus status) {
        Completion c = completion;
        c.workRequestId = request.workRequestId;
        c.status = status;
        c.queuePairNumber = number;
        c.isReceive = true;
        c.isReceiveOfWrite = false;
        c.byteLength = 0;
        c.hasImmediate = false;
        c.hasInvalidatedKey = false;
        c.sourceQueuePair = 0;
        c.hasRouteHeader = false;
        c.solicited = true;
        CompletionSink sink = receives.completions(receiveCompletions);
        receives.release();
        report(c, sink);
    }

    /** Reports a completion. One that is lost ends the queue pair, which may use the sink without belonging to it. */
    private void report(Completion c, CompletionSink sink) {
        c.isLost = false;
        sink.onCompletion(c);
        if (c.isLost && state != State.ERROR) {
            toError();
        }
    }

    final void require(boolean allowed, State wanted) {
        if (!allowed) {
            throw new IllegalStateException(
                    "queue pair 0x" + Integer.toHexString(number) + " cannot go from " + state + " to " + wanted);
        }
    }

    static void checkMtu(int bytes) {
        check(bytes >= 256 && bytes <= 4096 && Integer.bitCount(bytes) == 1, "path MTU", bytes);
    }

    static void check(boolean inRange, String what, int value) {
        if (!inRange) {
            throw new IllegalArgumentException(what + " out of range: " + value);
        }
    }
}
