package io.rdma4j.transport.cm;

import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection's communication management, either side; made by {@link CmAgent#connect} or handed to a {@link
 * CmListener}. Corresponds to a kernel {@code ib_cm_id}. Methods throw {@link IllegalStateException} when the state does
 * not allow them. As the agent, not thread safe.
 */
public final class CmConnection extends DeadlineEntry {
    /** Service timeout of our MRAs, Linux's: 65 seconds. Nor is a longer one believed from a peer. */
    private static final int MRA_SERVICE_TIMEOUT = 24;

    /** Intervals for which a destroyed connection's DREQ is repeated: no owner waits, but the peer should learn. */
    private static final int ABANDONED_INTERVALS = 2;

    /** First repetition of a DREQ whose process ends, which has a fraction of a second left. */
    private static final long EXPEDITED_NANOS = 10_000_000;

    /** In a REP: the alternate path will not be used. */
    private static final int FAILOVER_NOT_SUPPORTED = 1;

    /** Upper half of the transaction IDs of our own REQ and DREQ; nobody matches on them. */
    private static final long OWN_TRANSACTION = 1L << 32;

    private final CmAgent agent;
    private final CmRoute route;
    private final boolean active;
    private final Req request;
    private final long requestTransaction;
    private final int localId;

    private CmState state = CmState.IDLE;
    private boolean destroyed;

    /** Whether {@link ConnectionWatch#onOver} is still to come. */
    private boolean watched;

    private @Nullable CmEvents events;
    private @Nullable ListenedService listening;
    private boolean halfOpen;

    /** Who has asked for it; null on the active side, and when it has ended. */
    private RequestRateLimits.@Nullable Source source;

    private int localQueuePair;
    private int remoteId;
    private long remoteCaGuid;
    private int remoteQueuePair;
    private int queuePairAckTimeout;

    private Outbox.@Nullable Outgoing unanswered;
    private long waitNanos;
    private long giveUpNanos;

    /** Beyond this no MRA moves {@link #giveUpNanos}. */
    private long latestGiveUpNanos;

    private long extendedUntilNanos;
    private int extensionsLeft;
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

    static CmConnection active(CmAgent agent, CmRoute route, Req request, CmEvents events) {
        int id = request.localCommunicationId();
        CmConnection connection = new CmConnection(agent, route, true, request, ownTransaction(id), id);
        connection.events = events;
        connection.localQueuePair = request.localQueuePair();
        return connection;
    }

    static CmConnection passive(
            CmAgent agent,
            CmRoute route,
            Req request,
            long transaction,
            int localId,
            ListenedService listening,
            RequestRateLimits.Source source) {
        CmConnection connection = new CmConnection(agent, route, false, request, transaction, localId);
        connection.state = CmState.REQ_RECEIVED;
        connection.remoteId = request.localCommunicationId();
        connection.remoteCaGuid = request.localCaGuid();
        connection.remoteQueuePair = request.localQueuePair();
        connection.queuePairAckTimeout = request.primaryPath().acknowledgeTimeout();
        connection.listening = listening;
        listening.enter();
        connection.halfOpen = true;
        agent.halfOpen++;
        source.halfOpen++;
        agent.rateLimits.addConnection(source);
        connection.source = source;
        return connection;
    }

    /** What another process of this host has left: it ends as if its owner had destroyed it here. */
    static CmConnection abandoned(CmAgent agent, Req request, AbandonedConnection left) {
        CmConnection connection = new CmConnection(agent, left.route(), false, request, 0, left.localId());
        connection.destroyed = true;
        connection.localQueuePair = left.localQueuePair();
        connection.remoteId = left.remoteId();
        connection.remoteQueuePair = left.remoteQueuePair();
        return connection;
    }

    // ---------------------------------------------------------------------------------------------- for the owner

    /** The state. */
    public CmState state() {
        return state;
    }

    /** Whether this side sent the REQ. */
    public boolean isActive() {
        return active;
    }

    /** The two ends. */
    public CmRoute route() {
        return route;
    }

    /** The REQ that began the connection: ours on the active side, the peer's on the passive side. */
    public Req request() {
        return request;
    }

    /** Our communication ID; never 0. */
    public int localId() {
        return localId;
    }

    /** The peer's communication ID; 0 while unknown. */
    public int remoteId() {
        return remoteId;
    }

    /** GUID of the peer's CA; 0 while unknown. */
    public long remoteCaGuid() {
        return remoteCaGuid;
    }

    /** The peer's queue pair; 0 while unknown. */
    public int remoteQueuePair() {
        return remoteQueuePair;
    }

    /** What another process needs to end the connection, should this one be killed; once it is established. */
    public AbandonedConnection asAbandonedConnection() {
        int trafficClass = request.primaryPath().trafficClass();
        return new AbandonedConnection(route, trafficClass, localId, localQueuePair, remoteId, remoteQueuePair);
    }

    /**
     * ACK timeout exponent for our queue pair as Linux derives it: the passive side takes the REQ's, the active side
     * combines its own with the REP's target ACK delay. 0 on the active side before the REP.
     */
    public int queuePairAckTimeout() {
        return queuePairAckTimeout;
    }

    /**
     * Passive: sends the REP ({@code ib_send_cm_rep}). The queue pair must be ready to receive before, since data may
     * arrive at once. Goes to {@link CmState#REP_SENT}.
     *
     * @param nowNanos the time
     * @param reply what to say, {@link Rep#extended} to a request for an extended connection; communication IDs and CA
     *     GUID are filled in
     */
    public void accept(long nowNanos, Rep reply) {
        require("accept", CmState.REQ_RECEIVED, CmState.MRA_REQ_SENT);
        releaseBacklog();
        localQueuePair = reply.queuePair(request);
        state = CmState.REP_SENT;
        awaitAnswer(nowNanos, identified(reply), requestTransaction);
    }

    private Rep identified(Rep reply) {
        int failover = request.hasAlternatePath() ? FAILOVER_NOT_SUPPORTED : reply.failoverAccepted();
        return reply.identified(
                localId, remoteId, failover, agent.configuration().caGuid());
    }

    /**
     * Rejects the peer's REQ (passive) or REP (active), or takes an acceptance back ({@code ib_send_cm_rej}). Goes to
     * {@link CmState#IDLE}, or from {@link CmState#REP_SENT} to {@link CmState#TIMEWAIT}.
     *
     * @param nowNanos the time
     * @param reason {@link RejectReason#CONSUMER_DEFINED} where the application decides
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
        // As Linux does, a reject from inside the callback does not tell an ID that will never be of use.
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
            forget();
        }
    }

    /**
     * Active: confirms the REP ({@code ib_send_cm_rtu}). The queue pair must be ready to send before. Goes to {@link
     * CmState#ESTABLISHED}; no event follows.
     */
    public void sendReadyToUse(long nowNanos) {
        require("send RTU for", CmState.REP_RECEIVED, CmState.MRA_REP_SENT);
        enterEstablished();
        send(readyToUse(), requestTransaction);
    }

    /**
     * Passive: data has arrived on the queue pair, so the peer has the REP and its RTU is late or lost ({@code
     * ib_cm_notify} with {@code IB_EVENT_COMM_EST}). Establishes a connection in {@link CmState#REP_SENT}, which {@link
     * CmEvents#onReadyToUse} tells; does nothing in other states.
     *
     * @return whether that established the connection
     */
    public boolean notifyCommunicationEstablished() {
        if (state != CmState.REP_SENT && state != CmState.MRA_REP_RECEIVED) {
            return false;
        }
        establish();
        return true;
    }

    /**
     * Disconnects as {@code rdma_disconnect}: sends a DREQ from {@link CmState#ESTABLISHED}, answers the peer's with DREP
     * from {@link CmState#DREQ_RECEIVED} and goes to {@link CmState#TIMEWAIT}; does nothing in {@link CmState#DREQ_SENT}
     * and {@link CmState#TIMEWAIT}.
     *
     * @return whether a DREQ was sent, so that {@link CmEvents#onDisconnected} will follow
     */
    public boolean disconnect(long nowNanos) {
        require("disconnect", CmState.ESTABLISHED, CmState.DREQ_RECEIVED, CmState.DREQ_SENT, CmState.TIMEWAIT);
        if (state == CmState.ESTABLISHED) {
            sendDisconnectRequest(nowNanos);
            return true;
        }
        if (state == CmState.DREQ_RECEIVED) {
            answerDisconnectRequest(nowNanos);
        }
        return false;
    }

    /** Passive: the application has fetched the request, so that it no longer fills its listener's backlog. */
    public void releaseBacklog() {
        if (listening != null) {
            listening.leave();
            listening = null;
        }
    }

    /**
     * Gives the connection up, telling the peer what the state asks for: REJ 4 for an unanswered REQ, REJ 28 for an
     * undecided REQ or REP, DREQ for an established connection, DREP for a DREQ. Corresponds to {@code
     * ib_destroy_cm_id}, but for a DREQ that is repeated a few times where Linux sends it once.
     *
     * @return true if nothing is left, so that the queue pair's number may be used again; false if {@link
     *     CmEvents#onTimewaitExit} will tell that
     */
    public boolean destroy(long nowNanos) {
        destroyed = true;
        switch (state) {
            case REQ_SENT, MRA_REQ_RECEIVED -> {
                send(
                        Rej.timeout(
                                localId,
                                Rej.MESSAGE_OTHER,
                                agent.configuration().caGuid()),
                        requestTransaction);
                agent.counters().rejectsSent++;
                forget();
            }
            case REQ_RECEIVED, MRA_REQ_SENT, REP_RECEIVED, MRA_REP_SENT, REP_SENT, MRA_REP_RECEIVED ->
                reject(nowNanos, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            case ESTABLISHED -> disconnectWithoutOwner(nowNanos);
            case DREQ_SENT -> limitRepetitions(nowNanos);
            case DREQ_RECEIVED -> answerDisconnectRequest(nowNanos);
            case TIMEWAIT, IDLE -> {}
        }
        return state == CmState.IDLE;
    }

    @Override
    public String toString() {
        return "connection " + Integer.toHexString(localId) + " " + route.local() + (active ? " -> " : " <- ")
                + route.remote() + " (" + state + ")";
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

    int localQueuePair() {
        return localQueuePair;
    }

    void state(CmState next) {
        state = next;
    }

    void events(CmEvents sink) {
        events = sink;
    }

    /** Calls the owner, unless it has destroyed the connection. */
    void tell(Consumer<CmEvents> what) {
        if (events != null && !destroyed) {
            what.accept(events);
        }
    }

    void sendRequest(long nowNanos) {
        state = CmState.REQ_SENT;
        awaitAnswer(nowNanos, request, requestTransaction);
    }

    /** Takes from the REP what identifies the peer; the REQ needs no repetition any more. */
    void takeReply(Rep reply) {
        remoteId = reply.localCommunicationId();
        remoteCaGuid = reply.localCaGuid();
        remoteQueuePair = reply.queuePair(request);
        queuePairAckTimeout = CmTimes.ackTimeout(reply.targetAcknowledgeDelay(), request);
        stopWaiting();
        state = CmState.REP_RECEIVED;
    }

    /** The RTU has come, or what stands for it. */
    void establish() {
        stopWaiting();
        leaveHalfOpen();
        if (source != null) {
            source.hasAnswered = true;
        }
        enterEstablished();
        tell(e -> e.onReadyToUse(this));
    }

    private void enterEstablished() {
        state = CmState.ESTABLISHED;
        agent.counters().established++;
        watched = true;
        agent.watch.onEstablished(this);
    }

    private void leaveWatch() {
        if (watched) {
            watched = false;
            agent.watch.onOver(this);
        }
    }

    /** Answers a duplicate with a new copy of the confirmation. */
    void answerReadyToUse() {
        answer(readyToUse(), requestTransaction);
    }

    /** Answers a duplicate, telling that the owner has not decided yet. */
    void answerReceipt(int message) {
        answer(new Mra(localId, remoteId, message, MRA_SERVICE_TIMEOUT, PrivateData.EMPTY), requestTransaction);
    }

    /** Answers a duplicate by what is unanswered anyway; its timer goes on. */
    void answerUnanswered() {
        if (unanswered != null && agent.outbox.answer(unanswered)) {
            agent.counters().retransmissions++;
        }
    }

    void answerDrep(long transaction) {
        answer(new Drep(localId, remoteId, PrivateData.EMPTY), transaction);
    }

    /**
     * The peer asked for more time. Repetitions go on at the longest interval, since what the peer sends after its MRA may
     * be lost too. As on Linux, as many MRAs count as there are tries; those that come while one counts do not. A peer that
     * asks for time to confirm gets {@link CmTimes#MAX_CONFIRMATION_NANOS} in all: until then it takes a place among the
     * half-open connections.
     */
    void lengthenWait(long nowNanos, int serviceTimeout) {
        if (extensionsLeft > 0 && nowNanos >= extendedUntilNanos) {
            extensionsLeft--;
            extendedUntilNanos = nowNanos
                    + Timers.cmTimeoutNanos(Math.min(serviceTimeout, MRA_SERVICE_TIMEOUT))
                    + CmTimes.acknowledgeNanos(request);
            giveUpNanos = Math.max(giveUpNanos, Math.min(extendedUntilNanos + intervalNanos(), latestGiveUpNanos));
        }
        waitNanos = intervalNanos();
        scheduleRepetition(nowNanos);
    }

    void enterTimewait(long nowNanos) {
        stopWaiting();
        releaseBacklog();
        leaveHalfOpen();
        leaveSource();
        leaveWatch();
        agent.table.removeRemoteQueuePair(this);
        state = CmState.TIMEWAIT;
        agent.deadlines.schedule(this, nowNanos + CmTimes.acknowledgeNanos(request));
    }

    /** Leaves all tables; nothing of the connection can arrive any more. */
    void forget() {
        stopWaiting();
        releaseBacklog();
        leaveHalfOpen();
        leaveSource();
        leaveWatch();
        agent.table.remove(this);
        state = CmState.IDLE;
    }

    /** Repeats, gives up, or ends the time-wait. */
    @Override
    void onDeadline(long nowNanos) {
        if (state == CmState.TIMEWAIT) {
            forget();
            if (events != null) {
                events.onTimewaitExit(this);
            }
        } else if (nowNanos < giveUpNanos && unanswered != null) {
            repeat(nowNanos, unanswered);
            waitNanos = Math.min(2 * waitNanos, intervalNanos());
            scheduleRepetition(nowNanos);
        } else if (state == CmState.DREQ_SENT) {
            enterTimewait(nowNanos);
            tell(e -> e.onDisconnected(this, true));
        } else {
            forget();
            agent.counters().unreachable++;
            tell(e -> e.onUnreachable(this));
        }
    }

    /** Sends a message again, unless that could make a target of somebody who is only named as the sender of a REQ. */
    private void repeat(long nowNanos, Outbox.Outgoing message) {
        boolean answersRequest = state == CmState.REP_SENT || state == CmState.MRA_REP_RECEIVED;
        if (answersRequest && source != null && !agent.rateLimits.mayRepeat(nowNanos, source)) {
            agent.counters().repetitionsSaved++;
            return;
        }
        agent.counters().retransmissions++;
        agent.outbox.send(message);
    }

    void disconnectWithoutOwner(long nowNanos) {
        sendDisconnectRequest(nowNanos);
        limitRepetitions(nowNanos);
    }

    void sendDisconnectRequest(long nowNanos) {
        state = CmState.DREQ_SENT;
        awaitAnswer(nowNanos, asAbandonedConnection().disconnectRequest(), ownTransaction(localId));
    }

    // ------------------------------------------------------------------------------------------------------- inside

    /** Remembers the DREQ's transaction for the answer, which its owner gives. */
    void takeDisconnectRequest(long transaction) {
        stopWaiting();
        releaseBacklog();
        leaveHalfOpen();
        disconnectTransaction = transaction;
        state = CmState.DREQ_RECEIVED;
    }

    private void answerDisconnectRequest(long nowNanos) {
        send(new Drep(localId, remoteId, PrivateData.EMPTY), disconnectTransaction);
        enterTimewait(nowNanos);
    }

    private Rtu readyToUse() {
        return new Rtu(localId, remoteId, PrivateData.EMPTY);
    }

    private static long ownTransaction(int localId) {
        return OWN_TRANSACTION | Integer.toUnsignedLong(localId);
    }

    private void awaitAnswer(long nowNanos, CmMessage message, long transaction) {
        unanswered = outgoing(message, transaction);
        agent.outbox.send(unanswered);
        waitNanos = Math.min(agent.configuration().firstRetransmitNanos(), intervalNanos());
        extensionsLeft = request.maxCmRetries() + 1;
        extendedUntilNanos = nowNanos;
        giveUpNanos = nowNanos + extensionsLeft * intervalNanos();
        latestGiveUpNanos = state == CmState.REP_SENT ? nowNanos + CmTimes.MAX_CONFIRMATION_NANOS : Long.MAX_VALUE;
        scheduleRepetition(nowNanos);
    }

    private void scheduleRepetition(long nowNanos) {
        agent.deadlines.schedule(this, Math.min(nowNanos + waitNanos, giveUpNanos));
    }

    /** Nobody waits for the end any more. */
    private void limitRepetitions(long nowNanos) {
        giveUpNanos = Math.min(giveUpNanos, nowNanos + ABANDONED_INTERVALS * intervalNanos());
        scheduleRepetition(nowNanos);
    }

    /** There is no time for ordinary repetitions of a DREQ. */
    void expediteDisconnects(long nowNanos) {
        if (state == CmState.DREQ_SENT) {
            waitNanos = EXPEDITED_NANOS;
            scheduleRepetition(nowNanos);
        }
    }

    private void stopWaiting() {
        unanswered = null;
        agent.deadlines.schedule(this, Long.MAX_VALUE);
    }

    private void leaveHalfOpen() {
        if (halfOpen) {
            halfOpen = false;
            agent.halfOpen--;
            if (source != null) {
                source.halfOpen--;
            }
        }
    }

    private void leaveSource() {
        if (source != null) {
            agent.rateLimits.removeConnection(source);
            source = null;
        }
    }

    private void send(CmMessage message, long transaction) {
        agent.outbox.send(outgoing(message, transaction));
    }

    private void answer(CmMessage message, long transaction) {
        agent.outbox.answer(outgoing(message, transaction));
    }

    private Outbox.Outgoing outgoing(CmMessage message, long transaction) {
        return Outbox.Outgoing.of(
                message,
                transaction,
                route,
                request.primaryPath().trafficClass(),
                request.primaryPath().flowLabel());
    }

    private long intervalNanos() {
        return CmTimes.repetitionNanos(request, active);
    }
}
