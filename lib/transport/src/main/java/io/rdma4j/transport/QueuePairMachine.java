package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.wire.Ecn;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Base of the queue pairs of all transports: states, work queues, completions and the driving interface.
 *
 * <p><b>Driving.</b> One thread at a time calls all methods except the queues' {@code claim} and {@code publish}. After
 * any {@code on…} call, state change or post, call {@link #pollTransmit} until it returns 0, then read
 * {@link #nextDeadlineNanos} again. Pass all packets that have already arrived to {@link #onPacket} before calling
 * {@link #onDeadline}. After a pause of the driver the response may still be in the socket, and a timer that fires
 * first would retransmit everything or fail the connection needlessly.
 *
 * <p><b>Time</b> is a monotonic clock in nanoseconds, supplied by the caller.
 *
 * <p>Sinks and {@link Events} are called from inside these methods and must not call back, with one exception:
 * {@link #toError} may be called from a {@link CompletionSink}.
 */
public abstract sealed class QueuePairMachine permits RcQueuePair, UcQueuePair, UdQueuePair {
    /** Space that {@link #pollTransmit} needs in addition to the path MTU, in bytes. */
    public static final int HEADER_ROOM_BYTES = 64;

    /** Maximum message length in bytes. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    /** The deadline of a timer that does not run. */
    static final long NEVER = Long.MAX_VALUE;

    /** Default partition key, the only one of software devices. */
    static final int PARTITION_KEY = 0xffff;

    private static final int PARTITION = 0x7fff;

    /**
     * Creation parameters of a queue pair.
     *
     * @param maxSendRequests capacity of the send queue
     * @param maxReceiveRequests capacity of the receive queue
     * @param maxSendScatterGather maximum number of pieces of a send work request
     * @param maxReceiveScatterGather maximum number of pieces of a receive work request
     * @param maxInlineBytes maximum inline bytes of a send work request
     * @param signalAll {@code true} to report every successful send work request ({@code sq_sig_all})
     * @param protectionDomain number of the protection domain
     * @param sharedReceives shared queue that receives are taken from, or null for a separate receive queue; with a
     *     shared queue the receive queue has capacity 0, regardless of the sizes above
     * @param extendedDomain for the target of extended connections, the domain of the shared queues that requests name;
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
        /** Creates the parameters of a queue pair with a separate receive queue. */
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

    /**
     * The path to the peer of a connection. Addresses are in GID form as in {@link io.rdma4j.wire.Frame}.
     *
     * @param localHigh upper half of the local address
     * @param localLow lower half of the local address
     * @param remoteHigh upper half of the peer's address
     * @param remoteLow lower half of the peer's address
     * @param remoteScope interface index of a link-local peer address; otherwise 0
     * @param queuePairNumber number of the peer's queue pair, 24 bits
     * @param trafficClass IPv4 type of service or IPv6 traffic class
     * @param hopLimit IPv4 time to live or IPv6 hop limit
     * @param flowLabel flow label from which the UDP source port is derived, 20 bits
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

    /** Receives the events of queue pairs. */
    @FunctionalInterface
    public interface Events {
        /** Handles an event. */
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
    final CongestionControl congestion = new CongestionControl(counters);
    private final Completion completion = new Completion();

    private QueuePairState state = QueuePairState.RESET;
    private int accessFlags;

    /** True in SEND_QUEUE_DRAINED while a started send is not finished. */
    private boolean isDraining;

    /** True if the end of draining is to be reported. */
    private boolean reportsDrained;

    /** True if the peer's first packet has been reported. */
    private boolean isEstablishedReported;

    /** True if LAST_RECEIVE_REACHED has been reported. */
    private boolean isLastReceiveReported;

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
        boolean hasOwnQueue = configuration.sharedReceives() == null && configuration.extendedDomain() == null;
        receiveQueue = hasOwnQueue
                ? new ReceiveQueue(configuration.maxReceiveRequests(), configuration.maxReceiveScatterGather())
                : new ReceiveQueue(0, 0);
        receives = new ReceiveSource(receiveQueue, configuration);
    }

    /** Returns the transport; packets of other transports are dropped. */
    public abstract Opcode.Transport transport();

    /** Returns the number of the queue pair, 24 bits. */
    public final int number() {
        return number;
    }

    /** Returns the creation parameters. */
    public final Configuration configuration() {
        return configuration;
    }

    /** Returns the state. */
    public final QueuePairState state() {
        return state;
    }

    /** Returns the peer's access rights, bits of {@link AccessFlag}. */
    public final int accessFlags() {
        return accessFlags;
    }

    /** Returns the send queue, for posting. */
    public final SendQueue sendQueue() {
        return sendQueue;
    }

    /** Returns the receive queue, for posting. It has capacity 0 if the queue pair uses a shared one. */
    public final ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    /** Returns the counters. */
    public final QueuePairCounters counters() {
        return counters;
    }

    /**
     * Moves from RESET to INIT; in INIT, replaces the access rights.
     *
     * @param flags access rights of the peer, bits of {@link AccessFlag}
     */
    public final void toInit(int flags) {
        require(state == QueuePairState.RESET || state == QueuePairState.INIT, QueuePairState.INIT);
        accessFlags = flags;
        state = QueuePairState.INIT;
    }

    /**
     * Changes the peer's access rights, in any state but RESET.
     *
     * @param flags bits of {@link AccessFlag}
     */
    public final void changeAccess(int flags) {
        require(state != QueuePairState.RESET, state);
        accessFlags = flags;
    }

    /**
     * Moves from any state to ERROR and completes everything posted with {@link CompletionStatus#WORK_REQUEST_FLUSHED_ERROR}.
     * A reliable connection still sends a pending acknowledgement, so that the peer learns which requests were
     * executed. READ responses are discarded, including those still pending after an earlier failure.
     */
    public final void toError() {
        state = QueuePairState.ERROR;
        isDraining = false;
        onError(false);
        flush();
    }

    /**
     * Moves from READY_TO_SEND to SEND_QUEUE_DRAINED. Started work requests are finished, including retransmissions.
     * All others, and those posted later, wait for {@link #resume}.
     *
     * @param reports {@code true} to report {@link QueuePairEvent#SEND_QUEUE_DRAINED} when nothing is in flight
     */
    public final void drain(boolean reports) {
        require(state == QueuePairState.READY_TO_SEND, QueuePairState.SEND_QUEUE_DRAINED);
        state = QueuePairState.SEND_QUEUE_DRAINED;
        isDraining = true;
        reportsDrained = reports;
        reportIfDrained();
    }

    /** Returns whether the state is SEND_QUEUE_DRAINED but something is still in flight. */
    public final boolean isDraining() {
        return isDraining;
    }

    /** Goes back to READY_TO_SEND from SEND_QUEUE_ERROR, or from SEND_QUEUE_DRAINED when nothing is in flight. */
    public final void resume() {
        require(
                state == QueuePairState.SEND_QUEUE_DRAINED && !isDraining || state == QueuePairState.SEND_QUEUE_ERROR,
                QueuePairState.READY_TO_SEND);
        state = QueuePairState.READY_TO_SEND;
    }

    /**
     * Sets how a connection treats packets from another UDP port than its peer's; the default is
     * {@link SourcePortCheck#COUNT}. Call it before setting the path, since the port is learned again.
     */
    public final void checkSourcePort(SourcePortCheck check) {
        peerCheck.restart(check);
    }

    /**
     * Sets when the packets of a connection may be marked by routers; the default is {@link CongestionMarks#LEARN}. Call it
     * before setting the path.
     */
    public final void congestionMarks(CongestionMarks marks) {
        congestion.marks(marks);
    }

    /**
     * Limits the rate at which a connection sends payload, headers included. Acknowledgements are not limited.
     *
     * @param bytesPerSecond 0 for no limit
     */
    public final void rateLimit(long bytesPerSecond) {
        congestion.rate().ceiling(bytesPerSecond);
    }

    /**
     * Returns whether the driver is to send the packets with the ECN codepoint {@link io.rdma4j.wire.Ecn#CAPABLE}; this can change
     * with each packet received.
     */
    public final boolean isCongestionCapable() {
        return congestion.isCapable();
    }

    private void reportIfDrained() {
        if (isDraining && !hasBegun()) {
            isDraining = false;
            if (reportsDrained) {
                events.onAsyncEvent(QueuePairEvent.SEND_QUEUE_DRAINED);
            }
        }
    }

    /**
     * Moves from any state to ERROR and discards all posted work requests without completing them. Precedes
     * {@link #reset} in a driver that lets {@link #pollTransmit} send a pending acknowledgement, and nothing else.
     */
    public final void abandon() {
        sendQueue.clear();
        receives.clear();
        isLastReceiveReported = true;
        toError();
    }

    /** Moves from any state to RESET and discards all posted work requests without completing them. */
    public final void reset() {
        sendQueue.clear();
        receives.clear();
        onReset();
        rateLimit(0);
        peerCheck.restart();
        accessFlags = 0;
        isLastReceiveReported = false;
        isDraining = false;
        state = QueuePairState.RESET;
    }

    /**
     * Flushes the work requests posted since the queue pair entered ERROR, or the sends posted since SEND_QUEUE_ERROR;
     * otherwise does nothing. Call it after every post in these states. With a shared receive queue, completes the
     * receive that this queue pair has taken and then reports LAST_RECEIVE_REACHED.
     */
    public final void flush() {
        if (state != QueuePairState.ERROR && state != QueuePairState.SEND_QUEUE_ERROR) {
            return;
        }
        while (sendQueue.head() != sendQueue.tail()) {
            completeSend(sendQueue.at(sendQueue.head()), CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
        if (state == QueuePairState.ERROR) {
            flushReceives();
        }
    }

    private void flushReceives() {
        ReceiveRequest receive;
        while ((receive = receives.posted()) != null) {
            failReceive(receive, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
        if (receives.isShared() && !isLastReceiveReported) {
            isLastReceiveReported = true;
            events.onAsyncEvent(QueuePairEvent.LAST_RECEIVE_REACHED);
        }
    }

    // ---- driving ----

    /**
     * Processes a packet for this queue pair.
     *
     * @param nowNanos current time
     * @param packet parsed packet of any transport, with a correct ICRC and its frame's addresses set; used only during
     *     the call
     */
    public final void onPacket(long nowNanos, Packet packet) {
        counters.receivedPackets++;
        if (accept(nowNanos, packet)) {
            counters.processedPackets++;
        } else {
            counters.droppedPackets++;
        }
    }

    private boolean accept(long nowNanos, Packet packet) {
        if (packet.opcode().transport() == Opcode.Transport.CNP) {
            return isOfPartition(packet) && onCongestionNotification(nowNanos, packet);
        }
        if (!isOfTransport(packet) || !isOfPartition(packet) || !isAcceptable(nowNanos, packet)) {
            return false;
        }
        if (!Ecn.isCapable(packet.frame().trafficClass)) {
            return process(nowNanos, packet);
        }
        int expectedPsn = receivePsn();
        boolean isProcessed = process(nowNanos, packet);
        // Anyone who forges the peer's address could otherwise slow the peer down by marks, without a valid PSN.
        if (isProcessed && (!packet.opcode().isRequest() || receivePsn() != expectedPsn)) {
            congestion.onPacket(nowNanos, packet);
        }
        return isProcessed;
    }

    private boolean onCongestionNotification(long nowNanos, Packet packet) {
        Peer from = peer();
        if (from == null || !isReceiving()) {
            counters.badState++;
            return false;
        }
        if (!peerCheck.isFromPeer(nowNanos, packet, from)) {
            return false;
        }
        return congestion.onNotification(nowNanos, roundTripNanos());
    }

    /** Returns the path to the peer, or null before it is set and for datagrams, which have none. */
    public abstract @Nullable Peer peer();

    /**
     * Returns whether the driver is to seal the FLUSHes that {@link #pollTransmit} writes by
     * {@link io.rdma4j.wire.Icrc#sealFlushAsLinux}, since the peer does not answer others.
     */
    public boolean sealsFlushesAsLinux() {
        return false;
    }

    /** Returns the smoothed round-trip time of the connection, 0 if it is unknown. */
    abstract long roundTripNanos();

    /** Returns whether a packet may be processed: checks state, addresses and queue key, and counts the reason if not. */
    abstract boolean isAcceptable(long nowNanos, Packet packet);

    /** Processes an acceptable packet. Returns whether it had an effect or is answered. */
    abstract boolean process(long nowNanos, Packet packet);

    /**
     * Writes the next packet to send, from the BTH to the padding, without the ICRC.
     *
     * @param nowNanos current time
     * @param out memory with room for the path MTU and {@link #HEADER_ROOM_BYTES} at {@code at}
     * @param at offset of the BTH
     * @return bytes written; 0 if there is nothing to send now
     */
    public abstract int pollTransmit(long nowNanos, MemorySegment out, long at);

    /** Returns the time when {@link #onDeadline} must be called; {@link Long#MAX_VALUE} for never. */
    public abstract long nextDeadlineNanos();

    /** Handles expired timers. Call it when {@link #nextDeadlineNanos} is reached; an earlier call has no effect. */
    public abstract void onDeadline(long nowNanos);

    // ---- for the transports and their parts ----

    /** Returns whether a send work request has been started and is not completed. */
    abstract boolean hasBegun();

    /** Returns the PSN after the newest packet ever sent, 24 bits. */
    public abstract int sendPsn();

    /** Returns the PSN of the next expected request, 24 bits. */
    public abstract int receivePsn();

    /**
     * Called when the state has become ERROR, before the queues are flushed.
     *
     * @param mayRespond {@code true} if a limited number of pending responses may still be sent
     */
    abstract void onError(boolean mayRespond);

    /** Called when the state becomes RESET; discards all protocol state. */
    abstract void onReset();

    /** Enters a state whose conditions the transport has checked. */
    final void enter(QueuePairState next) {
        state = next;
        isEstablishedReported = false;
    }

    /**
     * Called for a request with the expected PSN, which is therefore from the peer. Reports the first one if this side
     * cannot send yet.
     */
    final void onExpectedRequest() {
        if (state == QueuePairState.READY_TO_RECEIVE && !isEstablishedReported) {
            isEstablishedReported = true;
            events.onAsyncEvent(QueuePairEvent.COMMUNICATION_ESTABLISHED);
        }
    }

    /** Returns whether a packet belongs to the default partition, whose full and limited members may both send. */
    private boolean isOfPartition(Packet packet) {
        if ((packet.partitionKey() & PARTITION) != PARTITION) {
            counters.badPartitionKey++;
            return false;
        }
        return true;
    }

    /** Returns whether a packet belongs to this transport. */
    private boolean isOfTransport(Packet packet) {
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
        return state == QueuePairState.READY_TO_SEND;
    }

    /** Returns whether started sends continue. */
    final boolean isSending() {
        return state == QueuePairState.READY_TO_SEND || state == QueuePairState.SEND_QUEUE_DRAINED;
    }

    /** Returns whether the peer's requests are served. */
    final boolean isReceiving() {
        return state == QueuePairState.READY_TO_RECEIVE || isSending() || state == QueuePairState.SEND_QUEUE_ERROR;
    }

    /** Completes the oldest send work request with an error and fails the connection. */
    final void failSend(CompletionStatus status) {
        if (isSending() && !sendQueue.isEmpty()) {
            isDraining = false;
            completeSend(sendQueue.at(sendQueue.head()), status);
            toError();
        }
    }

    /** Completes the oldest send work request of an unreliable transport with an error; only sending stops. */
    final void failUnreliableSend(CompletionStatus status) {
        isDraining = false;
        state = QueuePairState.SEND_QUEUE_ERROR;
        completeSend(sendQueue.at(sendQueue.head()), status);
        flush();
    }

    /**
     * Fails the connection because of the peer's request or silence. A limited number of pending responses is still
     * sent.
     */
    final void failWith(@Nullable QueuePairEvent event) {
        state = QueuePairState.ERROR;
        isDraining = false;
        onError(true);
        if (event != null) {
            events.onAsyncEvent(event);
        }
        flush();
    }

    /** Returns whether success of a work request is reported, so that the application may be waiting for it. */
    final boolean isSignaled(SendRequest request) {
        return request.signaled || configuration.signalAll();
    }

    /** Completes the oldest send work request, reports it if required, and releases its slot. */
    final void completeSend(SendRequest request, CompletionStatus status) {
        boolean isSuccess = status == CompletionStatus.SUCCESS;
        boolean isReported = !isSuccess || isSignaled(request);
        Completion c = completion;
        c.clear(number, request.workRequestId, status, false);
        c.opcode = request.opcode;
        c.byteLength = request.completedBytes();
        sendQueue.release();
        if (isSuccess) {
            counters.completedSends++;
        }
        if (isReported) {
            report(c, sendCompletions);
        }
        reportIfDrained();
    }

    /** Completes a receive successfully; the packet is the last of its message. */
    final void completeReceive(ReceiveRequest request, Packet packet, long bytes) {
        Completion c = completion;
        c.clear(number, request.workRequestId, CompletionStatus.SUCCESS, true);
        c.setReceived(packet, bytes);
        counters.completedReceives++;
        releaseAndReport(c);
    }

    /** Completes a receive with an error. */
    final void failReceive(ReceiveRequest request, CompletionStatus status) {
        completion.clear(number, request.workRequestId, status, true);
        releaseAndReport(completion);
    }

    /** Releases the slot of the oldest receive before its completion is reported. */
    private void releaseAndReport(Completion c) {
        CompletionSink sink = receives.completions(receiveCompletions);
        receives.release();
        report(c, sink);
    }

    /** Reports a completion. A lost completion fails the queue pair, which may use the sink without belonging to it. */
    private void report(Completion c, CompletionSink sink) {
        sink.onCompletion(c);
        if (c.isLost && state != QueuePairState.ERROR) {
            toError();
        }
    }

    final void require(boolean allowed, QueuePairState target) {
        if (!allowed) {
            throw new IllegalStateException(
                    "queue pair 0x" + Integer.toHexString(number) + " cannot go from " + state + " to " + target);
        }
    }

    static void checkMtu(int bytes) {
        check(bytes >= 256 && bytes <= 4096 && Integer.bitCount(bytes) == 1, "path MTU", bytes);
    }

    static void check(boolean inRange, String name, int value) {
        if (!inRange) {
            throw new IllegalArgumentException(name + " out of range: " + value);
        }
    }
}
