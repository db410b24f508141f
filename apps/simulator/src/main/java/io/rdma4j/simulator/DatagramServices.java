package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * The datagram services of a run, which clients resolve by SIDR_REQ and SIDR_REP, and the datagrams between clients and
 * servers.
 *
 * <p>Each host serves a service. Some requests are for an unknown service, some are refused, and in some runs hosts
 * send forged replies.
 */
final class DatagramServices {
    /** The service ID that every host serves. */
    static final long SERVICE = 0x0111_1c06L;

    /** Maximum number of datagrams after each resolution. */
    static final int DATAGRAMS = 5;

    private static final long NO_SERVICE = 0x0111_1c07L;
    private static final int WITHOUT_SERVICE = 20;
    private static final int MAX_CLIENTS = 4;
    private static final int MAX_ATTEMPTS = 3;
    private static final int MAX_FILLER_BYTES = 100;
    private static final int FORGED = 3;
    private static final int MAX_FORGED = 3;

    private final VirtualNetwork network;
    private final List<SimulatedHost> hosts;
    private final EventLog log;
    private final MessageLedger ledger;
    private final BooleanSupplier mayBreak;
    private final SplittableRandom random;
    private final List<ServiceEndpoint> endpoints = new ArrayList<>();
    private final List<ServiceServer> servers = new ArrayList<>();
    private final List<ServiceClient> clients = new ArrayList<>();
    private final List<ServiceExchange> exchanges = new ArrayList<>();
    private final boolean hasForger;
    private int resolved;

    DatagramServices(
            VirtualNetwork network,
            List<SimulatedHost> hosts,
            EventLog log,
            MessageLedger ledger,
            BooleanSupplier mayBreak,
            SplittableRandom random) {
        this.network = network;
        this.hosts = hosts;
        this.log = log;
        this.ledger = ledger;
        this.mayBreak = mayBreak;
        this.random = random;
        hasForger = random.nextInt(FORGED) == 0;
        int count = random.nextBoolean() ? 0 : random.nextInt(1, MAX_CLIENTS + 1);
        for (int i = 0; i < count; i++) {
            int attempts = random.nextInt(1, MAX_ATTEMPTS + 1);
            int datagrams = attempts * DATAGRAMS;
            ServiceEndpoint endpoint =
                    endpoint("service client " + i, anyHost(), datagrams, datagrams, (_, _) -> {}, random.split());
            clients.add(new ServiceClient(this, endpoint, attempts, random.split()));
        }
        if (count > 0) {
            hosts.forEach(this::onRestart);
        }
    }

    private SimulatedHost anyHost() {
        return hosts.get(random.nextInt(hosts.size()));
    }

    private ServiceEndpoint endpoint(
            String name,
            SimulatedHost host,
            int planned,
            int incoming,
            ServiceEndpoint.Arrivals arrivals,
            SplittableRandom endpointRandom) {
        return new ServiceEndpoint(
                name,
                host,
                ledger,
                endpoints,
                256 << endpointRandom.nextInt(4),
                planned,
                incoming,
                endpointRandom.nextBoolean(),
                arrivals,
                endpointRandom);
    }

    /** Creates the queue pair of a server. */
    ServiceEndpoint serverEndpoint(
            String name, SimulatedHost host, ServiceEndpoint.Arrivals arrivals, SplittableRandom endpointRandom) {
        int datagrams = clients.size() * MAX_ATTEMPTS * DATAGRAMS;
        return endpoint(name, host, datagrams, datagrams, arrivals, endpointRandom);
    }

    // ---- for clients and servers

    long nowNanos() {
        return network.nowNanos();
    }

    void note(String text) {
        log.note(network.nowNanos(), text);
    }

    /** Returns whether there is a reason for a peer to be unreachable. */
    boolean mayBreak() {
        return mayBreak.getAsBoolean();
    }

    /** Counts a service that a client has found. */
    void onResolved() {
        resolved++;
    }

    /** Returns the number of services that clients have found. */
    int resolved() {
        return resolved;
    }

    /** Returns the addresses of a message from one host to another. */
    static CmRoute route(SimulatedHost from, SimulatedHost to) {
        return new CmRoute(gid(from), gid(to), 0);
    }

    private static Gid gid(SimulatedHost host) {
        return new Gid(host.addressHigh(), host.addressLow());
    }

    /** Returns private data that starts with a number, followed by random bytes. */
    PrivateData privateData(int number, int maxBytes, SplittableRandom bytesRandom) {
        byte[] bytes = new byte[bytesRandom.nextInt(Integer.BYTES, Math.min(maxBytes, MAX_FILLER_BYTES) + 1)];
        bytesRandom.nextBytes(bytes);
        ByteBuffer.wrap(bytes).putInt(number);
        return PrivateData.of(bytes);
    }

    /** Returns the number in private data. */
    static int number(PrivateData data) {
        return ByteBuffer.wrap(data.toByteArray()).getInt();
    }

    /** Creates the resolution of a service at a random host. */
    ServiceExchange newExchange(ServiceEndpoint client, long cancelNanos, SplittableRandom exchangeRandom) {
        int number = exchanges.size();
        ServiceExchange exchange = new ServiceExchange(
                number,
                client,
                hosts.get(exchangeRandom.nextInt(hosts.size())),
                exchangeRandom.nextInt(WITHOUT_SERVICE) == 0 ? NO_SERVICE : SERVICE,
                privateData(number, SidrReq.PRIVATE_DATA_LENGTH, exchangeRandom),
                network.nowNanos(),
                cancelNanos);
        exchanges.add(exchange);
        return exchange;
    }

    /**
     * In some runs, lets other hosts reply to a request that they did not receive, and lets the server reply to a
     * request that does not exist. The client must not accept these replies.
     */
    void forge(ServiceExchange exchange, int requestId) {
        if (!hasForger) {
            return;
        }
        for (int i = random.nextInt(MAX_FORGED + 1); i > 0; i--) {
            SimulatedHost from = anyHost();
            if (from.isUp() && !from.isPaused()) {
                SidrRep forged = SidrRep.of(
                        from == exchange.server ? requestId ^ 1 << random.nextInt(Integer.SIZE) : requestId,
                        random.nextInt(SidrRep.STATUS_REDIRECT),
                        random.nextInt(1 << 24),
                        exchange.serviceId,
                        random.nextInt(),
                        privateData(exchange.number, SidrRep.PRIVATE_DATA_LENGTH, random));
                from.send(forged, random.nextLong(), route(from, exchange.client.host));
            }
        }
    }

    // ---- events

    /** Passes an event to the server or the client that it is for. Returns false if it is for neither. */
    boolean onEvent(AgentEvent event) {
        if (event instanceof AgentEvent.ServiceRequested requested) {
            onRequest(requested.request());
            return true;
        }
        if (event instanceof AgentEvent.OfResolution ofResolution
                && ofResolution.resolution().attachment() instanceof ServiceClient client) {
            client.onEvent(ofResolution);
            return true;
        }
        return false;
    }

    private void onRequest(ServiceRequest request) {
        int number = number(request.message().privateData());
        ServiceExchange exchange = number < 0 || number >= exchanges.size() ? null : exchanges.get(number);
        ServiceServer server = (ServiceServer) request.service().attachment();
        boolean isSame = exchange != null
                && exchange.server == server.host()
                && request.route().equals(route(exchange.server, exchange.client.host))
                && request.message().serviceId() == SERVICE
                && exchange.serviceId == SERVICE
                && request.message().privateData().equals(exchange.privateData.padded(SidrReq.PRIVATE_DATA_LENGTH));
        if (exchange == null || !isSame) {
            throw new SimulationFailure("a service request that no client has sent: " + request.message());
        }
        server.onRequest(request, exchange);
    }

    /** Kills the servers and clients of a host that crashes. */
    void onCrash(SimulatedHost host) {
        for (ServiceServer server : servers) {
            if (server.host() == host) {
                server.kill();
            }
        }
        for (ServiceClient client : clients) {
            if (client.endpoint().host == host) {
                client.endpoint().kill();
            }
        }
    }

    /** Starts the server of a host that has restarted. Clients are not restarted. */
    void onRestart(SimulatedHost host) {
        if (!clients.isEmpty()) {
            servers.add(new ServiceServer(this, host, "service " + servers.size(), random.split()));
        }
    }

    // ---- the run

    /** Does some of the pending work. */
    void work() {
        clients.forEach(ServiceClient::work);
        servers.forEach(ServiceServer::work);
    }

    /** Returns whether no further event can occur. */
    boolean isOver() {
        return clients.stream().allMatch(ServiceClient::isOver)
                && servers.stream().allMatch(ServiceServer::isIdle);
    }

    /** Returns the clients that are not done, for messages. */
    List<ServiceClient> unfinished() {
        return clients.stream().filter(client -> !client.isOver()).toList();
    }

    /**
     * Runs the final checks.
     *
     * @param isPerfect true if the network has lost nothing
     */
    void checkEnd(boolean isPerfect) {
        endpoints.forEach(endpoint -> endpoint.checkEnd(isPerfect));
    }
}
