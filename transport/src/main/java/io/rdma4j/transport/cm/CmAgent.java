package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The communication manager of one CA: all its listeners and connections. Give it every MAD that arrives on QP 1 with
 * {@link #onMad}; after any call, take what it wants to send with {@link #pollTransmit} until that returns false, and
 * call {@link #onDeadline} when {@link #nextDeadlineNanos} has come.
 *
 * <p>Speaks as Linux's {@code ib_cm} does, with these differences, which Linux peers understand:
 *
 * <ul>
 *   <li>Repetitions begin early ({@link CmConfiguration#firstRetransmitNanos}) and go on, at Linux's interval, after an
 *       MRA; when the peer is given up does not depend on how often it was asked, and is as on Linux.
 *   <li>A repeated REQ is answered by the REP if that is out (Linux lets its timer do it), and ignored in time-wait.
 *   <li>A REP that nobody waits for is answered by REJ 6 (Linux is silent, and its peer half open for a minute).
 *   <li>A DREQ that comes before the RTU stands for it: the owner is told of the connection, and then of its end (Linux
 *       tells the end alone).
 *   <li>Crossing DREQs are answered at once, and a destroyed connection's DREQ is repeated for a while (Linux
 *       sends it once).
 *   <li>A MAD that is not 256 bytes long is dropped; messages must come from the connection's peer and its REQ from the
 *       address it names ({@link CmConfiguration#allowForeignAddresses}).
 *   <li>What a peer says of its CA, its GUID and the numbers in it, counts for the address that it comes from: a REQ from
 *       elsewhere makes no connection stale.
 *   <li>REJ 12 names the address that would have been right (Linux: its first GID). Alternate paths are not used.
 * </ul>
 *
 * <p>Not thread safe. Time is any monotonic clock in nanoseconds.
 */
public final class CmAgent {
    private static final int DEFAULT_PARTITION = 0xffff;

    final ConnectionTable table = new ConnectionTable();
    final DeadlineHeap deadlines = new DeadlineHeap();
    final Outbox outbox;
    final RequestRateLimits rateLimits;

    /** Who is told of all connections. */
    ConnectionWatch watch = ConnectionWatch.NONE;

    /** Who is served at all. */
    RequestGate gate = (nowNanos, source) -> true;

    /** Passive connections that wait for accept or RTU. */
    int halfOpen;

    private final CmConfiguration configuration;
    private final CmCounters counters = new CmCounters();
    private final Map<Long, List<ListenedService>> listeners = new HashMap<>();
    private final MessageHandler messageHandler;
    private final Orphans orphans = new Orphans(this);
    final ServiceTable services;

    /** Creates an agent without listeners and connections. */
    public CmAgent(CmConfiguration configuration) {
        this.configuration = configuration;
        this.outbox = new Outbox(counters);
        this.rateLimits = new RequestRateLimits(configuration);
        this.services = new ServiceTable(this);
        this.messageHandler = new MessageHandler(this);
    }

    /** What the agent was made with. */
    public CmConfiguration configuration() {
        return configuration;
    }

    /** What the agent has counted. */
    public CmCounters counters() {
        return counters;
    }

    /** Sets who decides which addresses are served at all; by default all are. */
    public void gate(RequestGate newGate) {
        gate = newGate;
    }

    /** Sets who is told of all connections; by default nobody is. */
    public void watch(ConnectionWatch newWatch) {
        watch = newWatch;
    }

    /**
     * Takes requests for a service ID ({@code ib_cm_listen}).
     *
     * @param serviceId 64-bit service ID, matched exactly
     * @param listener asked for each request
     * @param backlog requests of this listener that may wait for an answer of the owner, at least 1; beyond that requests
     *     are dropped silently so that the peer sends them again
     * @return closes the listener; its connections stay
     */
    public ListenedService listen(long serviceId, CmListener listener, int backlog) {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog is " + backlog + ", must be at least 1");
        }
        ListenedService listening = new ListenedService(this, serviceId, listener, backlog);
        listeners.computeIfAbsent(serviceId, id -> new ArrayList<>(1)).add(listening);
        return listening;
    }

    /**
     * Sends a REQ ({@code ib_send_cm_req}) along its primary path.
     *
     * @param nowNanos the time
     * @param request what to say; its primary path names both addresses, and its ACK timeout (packet life time + 1),
     *     response timeouts and CM retries set the pace. Communication ID and CA GUID are filled in
     * @param scope IPv6 scope identifier for a link-local peer, else 0
     * @param events where the connection's events go
     * @return the connection, in {@link CmState#REQ_SENT}
     * @throws IllegalArgumentException if the path lacks an address or the private data is longer than 92 bytes
     * @throws IllegalStateException if no communication ID is free
     */
    public CmConnection connect(long nowNanos, ReqBuilder request, int scope, CmEvents events) {
        int id = table.freeId(configuration.communicationIds());
        if (id == 0) {
            throw new IllegalStateException("cannot connect: no communication ID is free beside the " + table.size()
                    + " in use; destroy connections that are no longer needed");
        }
        Req req = request.localCommunicationId(id)
                .localCaGuid(configuration.caGuid())
                .build();
        CmPath path = req.primaryPath();
        if (path.localGid().equals(Gid.ZERO) || path.remoteGid().equals(Gid.ZERO)) {
            throw new IllegalArgumentException("cannot connect from " + path.localGid() + " to " + path.remoteGid()
                    + ": the request's primary path must name both addresses");
        }
        CmRoute route = new CmRoute(path.localGid(), path.remoteGid(), scope);
        CmConnection connection = CmConnection.active(this, route, req, events);
        table.add(connection);
        connection.sendRequest(nowNanos);
        return connection;
    }

    /**
     * Serves a datagram service ({@code ib_cm_listen} for SIDR).
     *
     * @param serviceId what peers ask for
     * @param listener who takes the requests
     * @param backlog requests that may wait for an answer, at least 1; more are dropped without one
     */
    public ListenedDatagramService serve(long serviceId, ServiceListener listener, int backlog) {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog is " + backlog + ", must be at least 1");
        }
        return services.listen(serviceId, listener, backlog);
    }

    /**
     * Asks a peer for a datagram service ({@code ib_send_cm_sidr_req}).
     *
     * @param nowNanos the time
     * @param route the two ends
     * @param serviceId what to ask for
     * @param privateData at most 216 bytes; rdma_cm puts an {@link io.rdma4j.wire.cm.IpCmHeader} first
     * @param events who is told what becomes of it
     * @throws IllegalStateException if no request number is free
     */
    public ServiceResolution resolve(
            long nowNanos, CmRoute route, long serviceId, PrivateData privateData, ServiceEvents events) {
        int id = services.freeId(configuration.communicationIds());
        if (id == 0) {
            throw new IllegalStateException("cannot resolve a service: no request number is free beside the "
                    + services.resolutions() + " in use");
        }
        SidrReq message = new SidrReq(id, DEFAULT_PARTITION, serviceId, privateData);
        ServiceResolution resolution = new ServiceResolution(this, route, message, events);
        services.add(resolution);
        resolution.start(nowNanos);
        return resolution;
    }

    /** Questions to peers that are not answered yet. */
    public int resolutionCount() {
        return services.resolutions();
    }

    /** Questions of peers that wait for an answer of their owner. */
    public int waitingServiceRequests() {
        return services.waiting();
    }

    /**
     * Takes a MAD that arrived on QP 1. What is wrong with it is counted; nothing is thrown.
     *
     * @param nowNanos the time
     * @param sourceHigh source address of the packet in GID form, upper half
     * @param sourceLow source address, lower half
     * @param scope IPv6 scope identifier of a link-local source, else 0
     * @param mad memory that holds the MAD; not kept
     * @param at where it begins, after BTH and DETH
     * @param length its bytes, without padding and ICRC; 256 from a proper sender
     * @param localHigh destination address of the packet, upper half
     * @param localLow destination address, lower half
     */
    public void onMad(
            long nowNanos,
            long sourceHigh,
            long sourceLow,
            int scope,
            MemorySegment mad,
            long at,
            int length,
            long localHigh,
            long localLow) {
        CmRoute from = new CmRoute(new Gid(localHigh, localLow), new Gid(sourceHigh, sourceLow), scope);
        messageHandler.onMad(nowNanos, from, mad, at, length);
    }

    /**
     * Takes the peers of some connections as gone without a word, as if each had sent a DREQ: what a kernel does for a
     * process that dies.
     *
     * @param isLost whether the peer of a connection has gone
     */
    public void onPeersLost(Predicate<CmConnection> isLost) {
        for (CmConnection connection : table.all()) {
            if (isLost.test(connection)) {
                messageHandler.onPeerLost(connection);
            }
        }
    }

    /**
     * Ends a connection of another process of this host, which is gone, in its name: sends its DREQ until it is answered or
     * as often as that of any connection without an owner. Answers to it must come to {@link #onMad}. Of many the DREQs go
     * out bit by bit.
     *
     * @param nowNanos the time
     * @param abandoned the connection; nothing happens if its communication ID is one of this agent's, or 0
     */
    public void disconnectOrphan(long nowNanos, AbandonedConnection abandoned) {
        orphans.add(nowNanos, abandoned);
    }

    /** Connections of {@link #disconnectOrphan} whose DREQ has not been sent yet. */
    public int waitingOrphans() {
        return orphans.size();
    }

    /**
     * The process ends: DREQs that are not answered are repeated soon and often, since there is no time for ordinary
     * repetitions.
     *
     * @param nowNanos the time
     */
    public void expediteDisconnects(long nowNanos) {
        for (CmConnection connection : table.all()) {
            connection.expediteDisconnects(nowNanos);
        }
    }

    /** Whether a connection waits for the answer to its DREQ. */
    public boolean isDisconnecting() {
        return table.isAny(connection -> connection.state() == CmState.DREQ_SENT);
    }

    /**
     * Hands out the next MAD to send.
     *
     * @param out filled when there is one
     * @return false if there is nothing to send
     */
    public boolean pollTransmit(CmDatagram out) {
        return outbox.poll(out);
    }

    /** When {@link #onDeadline} wants to be called; {@link Long#MAX_VALUE} for never. */
    public long nextDeadlineNanos() {
        return deadlines.firstDeadlineNanos();
    }

    /** Repeats, gives up and releases what is due; costs nothing for connections that are not. */
    public void onDeadline(long nowNanos) {
        while (deadlines.firstDeadlineNanos() <= nowNanos) {
            deadlines.first().onDeadline(nowNanos);
        }
    }

    /** Connections that the agent knows, those in time-wait included. */
    public int connectionCount() {
        return table.size();
    }

    /** Addresses of requests that are remembered. */
    public int rememberedSources() {
        return rateLimits.size();
    }

    /** Passive connections that wait for accept or RTU. */
    public int halfOpenCount() {
        return halfOpen;
    }

    /** The listeners of a service ID in the order of their registration. */
    List<ListenedService> listeners(long serviceId) {
        return listeners.getOrDefault(serviceId, List.of());
    }

    void remove(ListenedService listening) {
        List<ListenedService> same = listeners.get(listening.serviceId());
        if (same != null && same.remove(listening) && same.isEmpty()) {
            listeners.remove(listening.serviceId());
        }
    }
}
