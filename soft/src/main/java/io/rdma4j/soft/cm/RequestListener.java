package io.rdma4j.soft.cm;

import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmEvents;
import io.rdma4j.transport.cm.CmListener;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.transport.cm.ServiceListener;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.verbs.Gid;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.SidrReq;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Decides which connection requests a listening identifier accepts, as Linux's rdma_cm does. Under the host's lock. */
final class RequestListener implements CmListener, ServiceListener {
    private static final int MAX_MTU_CODE = 5;

    private final SoftCmId listener;
    private final Listening listening;
    private final InetAddress bound;
    private final boolean familyOnly;

    RequestListener(SoftCmId listener, Listening listening, InetAddress bound, boolean familyOnly) {
        this.listener = listener;
        this.listening = listening;
        this.bound = bound;
        this.familyOnly = familyOnly;
    }

    @Override
    public boolean matches(CmRoute route, Req request) {
        return isOfListenersType(request) && isWanted(route, request.privateData());
    }

    /**
     * Returns whether a request is of the listener's type. An initiator of an extended connection requests a target; no
     * peer can request an initiator.
     */
    private boolean isOfListenersType(Req request) {
        return switch (listener.queuePairType()) {
            case RELIABLE_CONNECTION -> request.transportType() == Req.TRANSPORT_RC;
            case UNRELIABLE_CONNECTION -> request.transportType() == Req.TRANSPORT_UC;
            case XRC_RECEIVE -> request.isExtended();
            case XRC_SEND, UNRELIABLE_DATAGRAM -> false;
        };
    }

    @Override
    public boolean matches(CmRoute route, SidrReq message) {
        return isWanted(route, message.privateData());
    }

    private boolean isWanted(CmRoute route, PrivateData privateData) {
        IpCmHeader header = IpCmHeader.parse(privateData);
        return header != null
                && header.destination().equals(route.local())
                && (header.source().equals(route.remote()) || listener.allowsForeignRequests())
                && isUnicast(header)
                && accepts(header, route)
                && mayConnect(header, route);
    }

    private boolean mayConnect(IpCmHeader header, CmRoute route) {
        ConnectionAttempt attempt = new ConnectionAttempt(
                new InetSocketAddress(address(route.remote()), header.sourcePort()),
                new InetSocketAddress(address(route.local()), listener.listeningPort()),
                listener.portSpace());
        try {
            return listener.accessFilter().mayConnect(attempt);
        } catch (RuntimeException e) {
            listener.warnings().onFilterFailure(attempt, e);
            return false;
        }
    }

    private static InetAddress address(io.rdma4j.wire.Gid gid) {
        return new Gid(gid.high(), gid.low()).toInetAddress();
    }

    private static boolean isUnicast(IpCmHeader header) {
        return !header.source().equals(io.rdma4j.wire.Gid.ZERO)
                && (!header.isIpv4()
                        || header.source().ipv4() != 0 && header.source().ipv4() != -1);
    }

    private boolean accepts(IpCmHeader header, CmRoute route) {
        boolean ipv4 = bound instanceof Inet4Address;
        if (bound.isAnyLocalAddress()) {
            boolean isOfFamily = ipv4 == header.isIpv4() || !ipv4 && !familyOnly;
            return isOfFamily && (listening.acceptsAllDevices() || isServed(route));
        }
        LocalEndpoint local = listener.localEndpoint();
        return local != null
                && local.wireGid().equals(header.destination())
                && CmRoute.isSameLink(local.scope(), route.scope());
    }

    private boolean isServed(CmRoute route) {
        LocalEndpoint at = listener.localEndpointOf(route);
        return at != null && listening.serves(at.address());
    }

    @Override
    public @Nullable CmEvents onRequest(CmConnection connection, Req request) {
        IpCmHeader header = IpCmHeader.parse(request.privateData());
        LocalEndpoint at = listener.localEndpointOf(connection.route());
        if (header == null || at == null) {
            return null;
        }
        int mtu = request.pathMtu();
        if (mtu < 1 || mtu > MAX_MTU_CODE || mtu > at.pathMtu().code()) {
            // Both sides must segment messages into packets of the same size, and the REP cannot change it.
            connection.reject(listener.nowNanos(), RejectReason.INVALID_PATH_MTU, PrivateData.EMPTY);
            return null;
        }
        return listener.onRequest(connection, request, header, at);
    }

    @Override
    public boolean onRequest(ServiceRequest request, SidrReq message) {
        IpCmHeader header = IpCmHeader.parse(message.privateData());
        LocalEndpoint at = listener.localEndpointOf(request.route());
        if (header == null || at == null) {
            return false;
        }
        listener.onRequest(request, header, at);
        return true;
    }
}
