package io.rdma4j.transport.cm;

import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The communication management of one connection, on either side. {@link CmAgent#connect} creates it, or it arrives
 * with {@link AgentEvent.Requested} for the owner of a listener. Corresponds to a kernel {@code ib_cm_id}. Methods throw
 * {@link IllegalStateException} if the state does not allow them. Like the agent, not thread safe.
 */
public final class CmConnection extends DeadlineEntry {
    /** Service timeout of our MRAs, as in Linux: 65 seconds. Also the maximum accepted from a peer. */
    private static final int MRA_SERVICE_TIMEOUT = 24;

    /**
     * Number of intervals for which a destroyed connection's DREQ is retransmitted: no owner waits, but the peer should
     * be notified.
     */
    private static final int ABANDONED_INTERVALS = 2;

    /** First retransmission of a DREQ when the process exits, which leaves a fraction of a second. */
    private static final long EXPEDITED_NANOS = 10_000_000;

    /** In a REP: the alternate path is not used. */
    private static final int FAILOVER_NOT_SUPPORTED = 1;

    /** Upper half of the transaction IDs of our own REQ and DREQ; not used for matching. */
    private static final long LOCAL_TRANSACTION = 1L << 32;

    private final CmAgent agent;
    private final CmRoute route;
    private final boolean active;
    private final Req request;
    private final long requestTransaction;
    private final int localId;

    private CmState state = CmState.IDLE;
    private boolean destroyed;

    /** True from {@link AgentEvent.Opened} to {@link AgentEvent.Closed}. */
    private boolean isOpen;

    /** False for a connection of a process that has exited. */
    private boolean hasOwner = true;

    private @Nullable Object attachment;

    /** The listener whose backlog contains the request, until the owner has taken it; null afterwards. */
    private @Nullable ListenedService<Req> service;

    private boolean halfOpen;

    /** Source address of the request; null on the active side and after the connection has ended. */
    private RequestRateLimits.@Nullable Source source;

    private int localQueuePair;
    private int remoteId;
    private long remoteCaGuid;
    private int remoteQueuePair;
    private int queuePairAckTimeout;

    private @Nullable UnansweredMessage unanswered;
    private long disconnectTransaction;

    private CmConnection(
            CmAgent agent, CmRoute route, boolean active, Req request, long requestTransaction, int localId) {
        this.agent = agent;
        this.route = route;
        this.active = active;
        this.request = request;
        this.requestTransaction = requestTransaction;
        this.localId = localId;
    }

    static CmConnection active(CmAgent agent, CmRoute route, Req request, Object attachment) {
        int id = request.localCommunicationId();
        CmConnection connection = new CmConnection(agent, route, true, request, localTransaction(id), id);
        connection.attachment = attachment;
        connection.localQueuePair = request.localQueuePair();
        return connection;
    }

    static CmConnection passive(
            CmAgent agent,
            CmRoute route,
            Req request,
            long transaction,
            int localId,
            ListenedService<Req> service,
            RequestRateLimits.Source source) {
        CmConnection connection = new CmConnection(agent, route, false, request, transaction, localId);
        connection.state = CmState.REQ_RECEIVED;
        connection.remoteId = request.localCommunicationId();
        connection.remoteCaGuid = request.localCaGuid();
        connection.remoteQueuePair = request.localQueuePair();
        connection.queuePairAckTimeout = request.primaryPath().acknowledgeTimeout();
        connection.service = service;
        service.enterBacklog();
        connection.halfOpen = true;
        agent.halfOpen++;
        source.halfOpen++;
        agent.rateLimits.addConnection(source);
        connection.source = source;
        return connection;
    }

    /** Creates a connection of another process of this host; it ends as if its owner had destroyed it here. */
    static CmConnection abandoned(CmAgent agent, Req request, AbandonedConnection abandoned) {
        CmConnection connection = new CmConnection(agent, abandoned.route(), false, request, 0, abandoned.localId());
        connection.destroyed = true;
        connection.hasOwner = false;
        connection.localQueuePair = abandoned.localQueuePair();
        connection.remoteId = abandoned.remoteId();
        connection.remoteQueuePair = abandoned.remoteQueuePair();
        return connection;
    }

    // ---------------------------------------------------------------------------------------------- for the owner

    /** Returns the state. */
    public CmState state() {
        return state;
    }

    /** Returns the owner's object, which {@link CmAgent#connect} or {@link #attach} has set; null before. */
    public @Nullable Object attachment() {
        return attachment;
    }

    /** Sets the owner's object, so that the owner finds it when it polls an event of the connection. */
    public void attach(Object object) {
        attachment = object;
    }

    /** Returns whether this side sent the REQ. */
    public boolean isActive() {
        return active;
    }

    /** Returns the local and the remote address. */
    public CmRoute route() {
        return route;
    }

    /** Returns the REQ of the connection: ours on the active side, the peer's on the passive side. */
    public Req request() {
        return request;
    }

    /** Returns the local communication ID; never 0. */
    public int localId() {
        return localId;
    }

    /** Returns the peer's communication ID; 0 while unknown. */
    public int remoteId() {
        return remoteId;
    }

    /** Returns the GUID of the peer's CA; 0 while unknown. */
    public long remoteCaGuid() {
        return remoteCaGuid;
    }

    /** Returns the local queue pair number; 0 on the passive side before {@link #accept}. */
    public int localQueuePair() {
        return localQueuePair;
    }

    /** Returns the peer's queue pair number; 0 while unknown. */
    public int remoteQueuePair() {
        return remoteQueuePair;
    }

    /** Returns the data that another process needs to end the established connection if this process is killed. */
    public AbandonedConnection asAbandonedConnection() {
        int trafficClass = request.primaryPath().trafficClass();
        return new AbandonedConnection(route, trafficClass, localId, localQueuePair, remoteId, remoteQueuePair);
    }

    /**
     * Returns the ACK timeout exponent for the local queue pair, derived as in Linux. The passive side uses the REQ's;
     * the active side combines its own with the REP's target ACK delay. 0 on the active side before the REP.
     */
    public int queuePairAckTimeout() {
        return queuePairAckTimeout;
    }

    /**
     * Passive: sends the REP ({@code ib_send_cm_rep}). The queue pair must already be ready to receive, since data may
     * arrive immediately. Moves to {@link CmState#REP_SENT}.
     *
     * @param nowNanos current time
     * @param reply the reply, {@link Rep#extended} for an extended connection; communication IDs and CA GUID are filled
     *     in
     */
    public void accept(long nowNanos, Rep reply) {
        require("accept", CmState.REQ_RECEIVED, CmState.MRA_REQ_SENT);
        releaseBacklog();
        localQueuePair = reply.queuePair(request);
        state = CmState.REP_SENT;
        sendWithRetry(nowNanos, identified(reply), requestTransaction);
    }

    private Rep identified(Rep reply) {
        int failover = request.hasAlternatePath() ? FAILOVER_NOT_SUPPORTED : reply.failoverAccepted();
        return reply.identified(
                localId, remoteId, failover, agent.configuration().caGuid());
    }

    /**
     * Rejects the peer's REQ (passive) or REP (active), or revokes an acceptance ({@code ib_send_cm_rej}). Moves to
     * {@link CmState#IDLE}, or from {@link CmState#REP_SENT} to {@link CmState#TIMEWAIT}.
     *
     * @param nowNanos current time
     * @param reason {@link RejectReason#CONSUMER_DEFINED} if the application decides
     * @param privateData at most 148 bytes
     * @throws IllegalArgumentException if there is more private data
     */
    public void reject(long nowNanos, RejectReason reason, PrivateData privateData) {
        require(
                "reject",
                CmState.REQ_RECEIVED,
                CmState.MRA_REQ_SENT,
                CmState.REP_RECEIVED,
                CmState.MRA_REP_SENT,
                CmState.REP_SENT,
                CmState.MRA_REP_RECEIVED);
        releaseBacklog();
        // As in Linux, a REJ while the event is handled carries no communication ID, since that will never be used.
        int id = state == CmState.REQ_RECEIVED ? 0 : localId;
        int rejected = switch (state) {
            case REQ_RECEIVED, MRA_REQ_SENT -> Rej.MESSAGE_REQ;
            case REP_RECEIVED, MRA_REP_SENT -> Rej.MESSAGE_REP;
            default -> Rej.MESSAGE_OTHER;
        };
        send(Rej.of(id, remoteId, rejected, reason, privateData), requestTransaction);
        agent.counters().rejectsSent++;
        if (rejected == Rej.MESSAGE_OTHER) {
            enterTimewait(nowNanos);
        } else {
            remove();
        }
    }

    /**
     * Active: confirms the REP ({@code ib_send_cm_rtu}). The queue pair must already be ready to send. Moves to
     * {@link CmState#ESTABLISHED}; no event follows.
     */
    public void sendReadyToUse(long nowNanos) {
        require("send RTU for", CmState.REP_RECEIVED, CmState.MRA_REP_SENT);
        enterEstablished();
        send(readyToUse(), requestTransaction);
    }

    /**
     * Passive: establishes the connection because data has arrived on the queue pair ({@code ib_cm_notify} with
     * {@code IB_EVENT_COMM_EST}). The peer then has the REP, and its RTU is late or lost. In {@link CmState#REP_SENT}
     * this triggers {@link AgentEvent.ReadyToUse}; in other states it does nothing.
     *
     * @return {@code true} if this call established the connection
     */
    public boolean notifyCommunicationEstablished() {
        if (state != CmState.REP_SENT && state != CmState.MRA_REP_RECEIVED) {
            return false;
        }
        establish();
        return true;
    }

    /**
     * Disconnects as {@code rdma_disconnect} does. Sends a DREQ in {@link CmState#ESTABLISHED}. In
     * {@link CmState#DREQ_RECEIVED} sends a DREP and moves to {@link CmState#TIMEWAIT}. Does nothing in
     * {@link CmState#DREQ_SENT} and {@link CmState#TIMEWAIT}.
     *
     * @return {@code true} if a DREQ was sent, so that {@link AgentEvent.Disconnected} will follow
     */
    public boolean disconnect(long nowNanos) {
        require("disconnect", CmState.ESTABLISHED, CmState.DREQ_RECEIVED, CmState.DREQ_SENT, CmState.TIMEWAIT);
        if (state == CmState.ESTABLISHED) {
            sendDisconnectRequest(nowNanos);
            return true;
        }
        if (state == CmState.DREQ_RECEIVED) {
            sendDisconnectReply(nowNanos);
        }
        return false;
    }

    /**
     * Passive: removes the request from its listener's backlog, because the application has taken it. Until then the request
     * stays there, also if the peer withdraws it, since the owner still holds it. {@link AgentEvent.Discarded} removes a withdrawn
     * one when the backlog is full.
     */
    public void releaseBacklog() {
        if (service != null) {
            service.leaveBacklog(this);
            service = null;
            if (state == CmState.IDLE) {
                releaseLimits();
            } else if (state == CmState.TIMEWAIT) {
                releaseHalfOpen();
            }
        }
    }

    /**
     * Destroys the connection and notifies the peer according to the state: REJ 4 for an unanswered REQ, REJ 28 for an
     * undecided REQ or REP, DREQ for an established connection, DREP for a DREQ. Corresponds to
     * {@code ib_destroy_cm_id}, except that a DREQ is retransmitted a few times where Linux sends it once.
     *
     * @return {@code true} if the connection is closed and the queue pair number may be reused; {@code false} if
     *     {@link AgentEvent.TimewaitExit} will follow
     */
    public boolean destroy(long nowNanos) {
        destroyed = true;
        releaseBacklog();
        switch (state) {
            case REQ_SENT, MRA_REQ_RECEIVED -> {
                long guid = agent.configuration().caGuid();
                send(Rej.timeout(localId, Rej.MESSAGE_OTHER, guid), requestTransaction);
                agent.counters().rejectsSent++;
                remove();
            }
            case REQ_RECEIVED, MRA_REQ_SENT, REP_RECEIVED, MRA_REP_SENT, REP_SENT, MRA_REP_RECEIVED ->
                reject(nowNanos, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            case ESTABLISHED -> disconnectWithoutOwner(nowNanos);
            case DREQ_SENT -> limitRetransmissions(nowNanos);
            case DREQ_RECEIVED -> sendDisconnectReply(nowNanos);
            case TIMEWAIT, IDLE -> {}
        }
        return state == CmState.IDLE;
    }

    @Override
    public String toString() {
        return "connection " + Integer.toHexString(localId) + " "
                + route.local().addressText() + (active ? " -> " : " <- ")
                + route.remote().addressText() + " (" + state + ")";
    }

    private void require(String operation, CmState... allowed) {
        for (CmState s : allowed) {
            if (s == state) {
                return;
            }
        }
        throw new IllegalStateException(
                "cannot " + operation + " " + this + ": the state must be one of " + Arrays.toString(allowed));
    }

    // ------------------------------------------------------------------------------- for the handling of messages

    void state(CmState next) {
        state = next;
    }

    boolean isDestroyed() {
        return destroyed;
    }

    /** Answers duplicates of the REQ or REP with MRAs: its owner has the event and has not decided. */
    void awaitDecision() {
        if (state == CmState.REQ_RECEIVED) {
            state = CmState.MRA_REQ_SENT;
        } else if (state == CmState.REP_RECEIVED) {
            state = CmState.MRA_REP_SENT;
        }
    }

    void sendRequest(long nowNanos) {
        state = CmState.REQ_SENT;
        sendWithRetry(nowNanos, request, requestTransaction);
    }

    /** Stores the peer's identifiers from the REP and stops retransmitting the REQ. */
    void acceptReply(Rep reply) {
        remoteId = reply.localCommunicationId();
        remoteCaGuid = reply.localCaGuid();
        remoteQueuePair = reply.queuePair(request);
        queuePairAckTimeout = CmTimes.ackTimeout(reply.targetAcknowledgeDelay(), request);
        stopWaiting();
        state = CmState.REP_RECEIVED;
    }

    /** Establishes the connection after the RTU or an event that implies it. */
    void establish() {
        stopWaiting();
        releaseHalfOpen();
        if (source != null) {
            source.hasAnswered = true;
        }
        enterEstablished();
        agent.events.add(new AgentEvent.ReadyToUse(this));
    }

    private void enterEstablished() {
        state = CmState.ESTABLISHED;
        agent.counters().established++;
        isOpen = true;
        agent.events.add(new AgentEvent.Opened(this));
    }

    /** Sends the RTU again for a duplicate REP. */
    void resendReadyToUse() {
        sendResponse(readyToUse(), requestTransaction);
    }

    /** Sends an MRA for a duplicate REQ or REP, because the owner has not decided yet. */
    void sendMra(int message) {
        sendResponse(new Mra(localId, remoteId, message, MRA_SERVICE_TIMEOUT, PrivateData.EMPTY), requestTransaction);
    }

    /** Retransmits the unanswered message for a duplicate, without affecting its timer. */
    void resendUnanswered() {
        if (unanswered != null && agent.outbox.sendResponse(unanswered.datagram())) {
            agent.counters().retransmissions++;
        }
    }

    void sendDrep(long transaction) {
        sendResponse(new Drep(localId, remoteId, PrivateData.EMPTY), transaction);
    }

    /**
     * Extends the timeout because of an MRA. A peer that delays its RTU gets {@link CmTimes#MAX_CONFIRMATION_NANOS} in
     * total, because it occupies a half-open connection.
     */
    void extendTimeout(long nowNanos, int serviceTimeout) {
        if (unanswered != null) {
            long serviceNanos = Timers.cmTimeoutNanos(Math.min(serviceTimeout, MRA_SERVICE_TIMEOUT));
            unanswered.extend(nowNanos, serviceNanos + CmTimes.acknowledgeNanos(request));
            scheduleRetransmission(nowNanos);
        }
    }

    void enterTimewait(long nowNanos) {
        end();
        agent.table.removeRemoteQueuePair(this);
        if (source != null && state != CmState.TIMEWAIT) {
            source.inTimewait++;
        }
        state = CmState.TIMEWAIT;
        agent.deadlines.schedule(this, nowNanos + CmTimes.acknowledgeNanos(request));
    }

    /**
     * Removes the connection from all tables, because its messages can no longer arrive. Until then, it counts against the
     * limit of its source: a peer chooses the time-wait, and could otherwise collect any number of connections in this state.
     */
    void remove() {
        end();
        if (source != null && state == CmState.TIMEWAIT) {
            source.inTimewait--;
        }
        agent.table.remove(this);
        state = CmState.IDLE;
        if (service == null) {
            releaseLimits();
        }
    }

    private void end() {
        stopWaiting();
        if (service == null) {
            releaseHalfOpen();
        } else {
            service.withdraw(this);
        }
        if (isOpen) {
            isOpen = false;
            agent.events.add(new AgentEvent.Closed(this));
        }
    }

    /** Retransmits, gives up, or ends the time-wait. */
    @Override
    void onDeadline(long nowNanos) {
        if (state == CmState.TIMEWAIT) {
            remove();
            if (hasOwner) {
                agent.events.add(new AgentEvent.TimewaitExit(this));
            }
        } else if (unanswered != null && !unanswered.isOver(nowNanos)) {
            retransmit(nowNanos, unanswered.datagram());
            unanswered.backOff();
            scheduleRetransmission(nowNanos);
        } else if (state == CmState.DREQ_SENT) {
            enterTimewait(nowNanos);
            agent.events.add(new AgentEvent.Disconnected(this, true));
        } else {
            remove();
            agent.counters().unreachable++;
            agent.events.add(new AgentEvent.Unreachable(this));
        }
    }

    /**
     * Retransmits a message, unless that could direct traffic at a third party that is merely named as the sender of a
     * REQ.
     */
    private void retransmit(long nowNanos, CmDatagram message) {
        boolean isReply = state == CmState.REP_SENT || state == CmState.MRA_REP_RECEIVED;
        if (isReply && source != null && !agent.rateLimits.mayRetransmit(nowNanos, source)) {
            agent.counters().retransmissionsSuppressed++;
            return;
        }
        agent.counters().retransmissions++;
        agent.outbox.send(message);
    }

    void disconnectWithoutOwner(long nowNanos) {
        sendDisconnectRequest(nowNanos);
        limitRetransmissions(nowNanos);
    }

    void sendDisconnectRequest(long nowNanos) {
        state = CmState.DREQ_SENT;
        sendWithRetry(nowNanos, asAbandonedConnection().disconnectRequest(), localTransaction(localId));
    }

    /** Stores the DREQ's transaction ID for the DREP, which the owner triggers. */
    void acceptDisconnectRequest(long transaction) {
        stopWaiting();
        releaseHalfOpen();
        disconnectTransaction = transaction;
        state = CmState.DREQ_RECEIVED;
    }

    private void sendDisconnectReply(long nowNanos) {
        send(new Drep(localId, remoteId, PrivateData.EMPTY), disconnectTransaction);
        enterTimewait(nowNanos);
    }

    private Rtu readyToUse() {
        return new Rtu(localId, remoteId, PrivateData.EMPTY);
    }

    private static long localTransaction(int localId) {
        return LOCAL_TRANSACTION | Integer.toUnsignedLong(localId);
    }

    private void sendWithRetry(long nowNanos, CmMessage message, long transaction) {
        CmDatagram datagram = outgoing(message, transaction);
        agent.outbox.send(datagram);
        unanswered = new UnansweredMessage(
                datagram,
                nowNanos,
                agent.configuration().firstRetransmitNanos(),
                CmTimes.retransmitNanos(request, active),
                request.maxCmRetries() + 1,
                state == CmState.REP_SENT ? CmTimes.MAX_CONFIRMATION_NANOS : Long.MAX_VALUE);
        scheduleRetransmission(nowNanos);
    }

    private void scheduleRetransmission(long nowNanos) {
        if (unanswered != null) {
            agent.deadlines.schedule(this, unanswered.nextNanos(nowNanos));
        }
    }

    /** Limits the retransmissions of a DREQ, since no caller waits for the disconnect to complete. */
    private void limitRetransmissions(long nowNanos) {
        if (unanswered != null) {
            unanswered.limit(nowNanos, ABANDONED_INTERVALS);
        }
        scheduleRetransmission(nowNanos);
    }

    /** Retransmits an unanswered DREQ soon, because the process is about to exit. */
    void expediteDisconnects(long nowNanos) {
        if (state == CmState.DREQ_SENT && unanswered != null) {
            unanswered.expedite(EXPEDITED_NANOS);
            scheduleRetransmission(nowNanos);
        }
    }

    private void stopWaiting() {
        unanswered = null;
        agent.deadlines.schedule(this, Long.MAX_VALUE);
    }

    private void releaseHalfOpen() {
        if (halfOpen) {
            halfOpen = false;
            agent.halfOpen--;
            if (source != null) {
                source.halfOpen--;
            }
        }
    }

    /** Makes room for another connection, in total and of the source address. */
    private void releaseLimits() {
        releaseHalfOpen();
        if (source != null) {
            agent.rateLimits.removeConnection(source);
            source = null;
        }
    }

    private void send(CmMessage message, long transaction) {
        agent.outbox.send(outgoing(message, transaction));
    }

    private void sendResponse(CmMessage message, long transaction) {
        agent.outbox.sendResponse(outgoing(message, transaction));
    }

    private CmDatagram outgoing(CmMessage message, long transaction) {
        return CmDatagram.of(message, transaction, route, request.primaryPath().trafficClass());
    }
}
