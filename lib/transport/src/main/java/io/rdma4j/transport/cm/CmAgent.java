package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import io.rdma4j.wire.cm.SidrReq;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The communication manager of one CA, with all its listeners and connections. Pass every MAD that arrives on QP 1 to
 * {@link #onMad}. After any call, take the events with {@link #pollEvent} and the MADs to send with {@link #pollTransmit}
 * until they return null, and call {@link #onDeadline} when {@link #nextDeadlineNanos} has been reached.
 *
 * <p>The agent calls its owner only for a decision on which the response to a received request depends
 * ({@link RequestFilter}, {@link RequestGate}) and for communication IDs; these must not call the agent. Calls of the
 * owner are therefore never nested, and when a method returns, its effect is complete.
 *
 * <p>Behaves like Linux's {@code ib_cm}, with these differences, which Linux peers understand:
 *
 * <ul>
 *   <li>Retransmission starts early ({@link CmConfiguration#firstRetransmitNanos}) and continues, at Linux's interval,
 *       after an MRA. The total time before giving up does not depend on the number of retransmissions and is that of
 *       Linux.
 *   <li>A request for a port that was bound less than half a second ago waits for the listener ({@link #expect}); Linux
 *       rejects it.
 *   <li>A duplicate REQ is answered with the REP if that has been sent (Linux leaves this to its timer), and ignored in
 *       time-wait.
 *   <li>An unexpected REP is answered with REJ 6 (Linux does not respond, and its peer stays half-open for a minute).
 *   <li>A DREQ that arrives before the RTU implies it: the owner is notified of the connection and then of its end
 *       (Linux reports only the end).
 * <li>Crossing DREQs are answered immediately, and the DREQ of a destroyed connection is retransmitted for a while
 * (Linux sends it once).
 *   <li>A MAD that is not 256 bytes long is dropped. Messages must come from the connection's peer, and its REQ from
 *       the address that it names ({@link CmConfiguration#allowForeignAddresses}).
 *   <li>The CA GUID and the numbers in a peer's message are valid only for its source address: a REQ from another
 *       address makes no connection stale.
 *   <li>REJ 12 carries the address that would have been valid (Linux: its first GID). Alternate paths are not used.
 * </ul>
 *
 * <p>Not thread safe. Time is any monotonic clock in nanoseconds.
 */
public final class CmAgent {
    private static final int DEFAULT_PARTITION = 0xffff;

    final ConnectionTable table = new ConnectionTable();
    final DeadlineHeap deadlines = new DeadlineHeap();
    final ListenerTable<Req> listeners = new ListenerTable<>();
    final EventQueue events = new EventQueue();
    final Outbox outbox;
    final RequestRateLimits rateLimits;

    /** Decides which addresses are served. */
    RequestGate gate = (nowNanos, source) -> true;

    /** Number of passive connections that wait for accept or RTU, or were withdrawn and wait in a backlog. */
    int halfOpen;

    private final CmConfiguration configuration;
    private final CmCounters counters = new CmCounters();
    private final MessageHandler messageHandler;
    private final AbandonedConnectionQueue abandonedConnections = new AbandonedConnectionQueue(this);
    final ExpectedServices expected = new ExpectedServices(this);
    final ServiceTable services;

    /** Creates an agent without listeners and connections. */
    public CmAgent(CmConfiguration configuration) {
        this.configuration = configuration;
        this.outbox = new Outbox(counters);
        this.rateLimits = new RequestRateLimits(configuration);
        this.services = new ServiceTable(this);
        this.messageHandler = new MessageHandler(this);
    }

    /** Returns the configuration. */
    public CmConfiguration configuration() {
        return configuration;
    }

    /** Returns the counters. */
    public CmCounters counters() {
        return counters;
    }

    /** Sets the gate that decides which addresses are served; by default all are. */
    public void gate(RequestGate newGate) {
        gate = newGate;
    }

    /**
     * Listens for requests to a service ID ({@code ib_cm_listen}).
     *
     * @param serviceId 64-bit service ID, matched exactly
     * @param filter decides which requests this listener takes; each is reported by {@link AgentEvent.Requested}
     * @param backlog maximum number of requests of this listener that the owner has neither taken ({@link
     *     CmConnection#releaseBacklog}) nor answered, at least 1, including those that their peers have withdrawn. A
     *     further request replaces the oldest withdrawn one ({@link AgentEvent.Discarded}); without one it is dropped silently,
     *     so that the peer retransmits it
     * @param attachment the owner's object, {@link ListenedService#attachment}
     * @return handle that closes the listener; its connections are kept
     */
    public ListenedService<Req> listen(long serviceId, RequestFilter<Req> filter, int backlog, Object attachment) {
        return listeners.listen(serviceId, filter, backlog, attachment);
    }

    /**
     * Expects a listener of a service soon, because its port was bound. For half a second, requests for the service that no listener
     * takes wait for one, instead of being rejected.
     *
     * @param nowNanos current time
     * @param serviceId 64-bit service ID
     */
    public void expect(long nowNanos, long serviceId) {
        expected.expect(nowNanos, serviceId);
    }

    /**
     * Answers the requests that wait for a service ({@link #expect}), whose listener can now take them.
     *
     * @param nowNanos current time
     * @param serviceId 64-bit service ID
     */
    public void onListening(long nowNanos, long serviceId) {
        expected.onListening(nowNanos, serviceId);
    }

    void onHeldRequest(long nowNanos, CmRoute from, CmMessage message, long transaction) {
        messageHandler.onHeldRequest(nowNanos, from, message, transaction);
    }

    /**
     * Sends a REQ ({@code ib_send_cm_req}) along its primary path.
     *
     * @param nowNanos current time
     * @param request the request. Its primary path names both addresses, and its ACK timeout (packet lifetime + 1),
     *     response timeouts and CM retries determine the retransmissions. Communication ID and CA GUID are filled in
     * @param scope IPv6 scope identifier for a link-local peer, otherwise 0
     * @param attachment the owner's object, {@link CmConnection#attachment}
     * @return the connection, in {@link CmState#REQ_SENT}
     * @throws IllegalArgumentException if the path lacks an address or the private data is longer than 92 bytes
     * @throws IllegalStateException if no communication ID is free
     */
    public CmConnection connect(long nowNanos, ReqBuilder request, int scope, Object attachment) {
        int id = table.freeId(configuration.communicationIds());
        if (id == 0) {
            throw new IllegalStateException("cannot connect: no communication ID is free, " + table.size()
                    + " are in use; destroy connections that are no longer needed");
        }
        Req req = request.localCommunicationId(id)
                .localCaGuid(configuration.caGuid())
                .build();
        CmPath path = req.primaryPath();
        if (path.localGid().equals(Gid.ZERO) || path.remoteGid().equals(Gid.ZERO)) {
            throw new IllegalArgumentException(
                    "cannot connect from " + path.localGid().addressText() + " to "
                            + path.remoteGid().addressText() + ": the request's primary path must name both addresses");
        }
        CmRoute route = new CmRoute(path.localGid(), path.remoteGid(), scope);
        CmConnection connection = CmConnection.active(this, route, req, attachment);
        table.add(connection);
        connection.sendRequest(nowNanos);
        return connection;
    }

    /**
     * Serves a datagram service ({@code ib_cm_listen} for SIDR).
     *
     * @param serviceId 64-bit service ID, matched exactly
     * @param filter decides which requests this listener takes; each is reported by {@link AgentEvent.ServiceRequested}
     * @param backlog maximum number of requests that wait for an answer, at least 1; further requests are dropped
     *     silently
     * @param attachment the owner's object, {@link ListenedService#attachment}
     * @return handle that closes the listener; its requests are kept
     */
    public ListenedService<SidrReq> serve(
            long serviceId, RequestFilter<SidrReq> filter, int backlog, Object attachment) {
        return services.listeners().listen(serviceId, filter, backlog, attachment);
    }

    /**
     * Resolves a datagram service at a peer ({@code ib_send_cm_sidr_req}).
     *
     * @param nowNanos current time
     * @param route local and remote address
     * @param serviceId service ID to resolve
     * @param privateData at most 216 bytes; rdma_cm puts an {@link io.rdma4j.wire.cm.IpCmHeader} first
     * @param attachment the owner's object, {@link ServiceResolution#attachment}
     * @throws IllegalStateException if no request ID is free
     */
    public ServiceResolution resolve(
            long nowNanos, CmRoute route, long serviceId, PrivateData privateData, Object attachment) {
        int id = services.freeId(configuration.communicationIds());
        if (id == 0) {
            throw new IllegalStateException(
                    "cannot resolve a service: no request ID is free, " + services.resolutions() + " are in use");
        }
        SidrReq message = new SidrReq(id, DEFAULT_PARTITION, serviceId, privateData);
        ServiceResolution resolution = new ServiceResolution(this, route, message, attachment);
        services.add(resolution);
        resolution.start(nowNanos);
        return resolution;
    }

    /** Returns the number of service resolutions in progress. */
    public int resolutionCount() {
        return services.resolutions();
    }

    /** Returns the number of service requests of peers that wait for an answer of their owner. */
    public int waitingServiceRequests() {
        return services.waiting();
    }

    /**
     * Processes a MAD that arrived on QP 1. Errors in it are counted, never thrown.
     *
     * @param nowNanos current time
     * @param datagram the MAD, of any length, with its source as the remote address; its bytes are not retained
     */
    public void onMad(long nowNanos, CmDatagram datagram) {
        messageHandler.onMad(nowNanos, datagram);
    }

    /**
     * Treats the peers of some connections as dead, as if each had sent a DREQ. A kernel would send one for a process
     * that dies.
     *
     * @param isLost selects the connections whose peer is dead
     */
    public void onPeersLost(Predicate<CmConnection> isLost) {
        for (CmConnection connection : table.all()) {
            if (isLost.test(connection)) {
                messageHandler.onPeerLost(connection);
            }
        }
    }

    /**
     * Disconnects a connection of a process of this host that has exited, on its behalf. Its DREQ is retransmitted
     * until it is answered, at most as often as for any connection without an owner. Responses must be passed to
     * {@link #onMad}. If there are many, the DREQs are sent in batches.
     *
     * @param nowNanos current time
     * @param abandoned the connection; ignored if its communication ID is 0 or one of this agent's
     */
    public void disconnectAbandoned(long nowNanos, AbandonedConnection abandoned) {
        abandonedConnections.add(nowNanos, abandoned);
    }

    /** Returns the number of connections of {@link #disconnectAbandoned} whose DREQ has not been sent yet. */
    public int pendingAbandonedConnections() {
        return abandonedConnections.size();
    }

    /**
     * Retransmits unanswered DREQs soon and often, because the process is about to exit.
     *
     * @param nowNanos current time
     */
    public void expediteDisconnects(long nowNanos) {
        for (CmConnection connection : table.all()) {
            connection.expediteDisconnects(nowNanos);
        }
    }

    /** Returns whether a connection waits for a DREP. */
    public boolean isDisconnecting() {
        return table.isAny(connection -> connection.state() == CmState.DREQ_SENT);
    }

    /** Returns the next MAD to send, or null if there is none. */
    public @Nullable CmDatagram pollTransmit() {
        return outbox.poll();
    }

    /**
     * Returns the next event, or null if there is none. A request or reply that the owner does not answer before the
     * next poll is undecided: duplicates of it are answered with MRAs.
     */
    public @Nullable AgentEvent pollEvent() {
        return events.poll();
    }

    /** Returns the time when {@link #onDeadline} must be called; {@link Long#MAX_VALUE} for never. */
    public long nextDeadlineNanos() {
        return deadlines.firstDeadlineNanos();
    }

    /**
     * Handles all expired deadlines: retransmits, gives up and ends time-waits. Costs nothing for other connections.
     */
    public void onDeadline(long nowNanos) {
        while (deadlines.firstDeadlineNanos() <= nowNanos) {
            deadlines.first().onDeadline(nowNanos);
        }
    }

    /** Returns the number of connections, including those in time-wait. */
    public int connectionCount() {
        return table.size();
    }

    /** Returns the number of tracked source addresses of requests. */
    public int rememberedSources() {
        return rateLimits.size();
    }

    /**
     * Returns the number of passive connections that wait for accept or RTU, and of requests that the peer has withdrawn and
     * the owner has not taken yet.
     */
    public int halfOpenCount() {
        return halfOpen;
    }
}
