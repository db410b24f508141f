package io.rdma4j.soft.cm;

import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.transport.cm.RequestFilter;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.SidrReq;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Decides which requests a listening identifier takes, by the rules of Linux's rdma_cm. Under the engine's lock. */
final class ListenerFilter {

    private final SoftCmId listener;
    private final Listening listening;
    private final InetAddress bound;
    private final boolean familyOnly;

    ListenerFilter(SoftCmId listener, Listening listening, InetAddress bound, boolean familyOnly) {
        this.listener = listener;
        this.listening = listening;
        this.bound = bound;
        this.familyOnly = familyOnly;
    }

    /** Returns the verdict about a REQ. */
    RequestFilter.Verdict verdict(CmRoute route, Req request) {
        if (!isOfListenersType(request) || !isWanted(route, request.privateData())) {
            return RequestFilter.Verdict.DECLINE;
        }
        LocalEndpoint at = listener.localEndpointOf(route);
        if (at == null) {
            return RequestFilter.Verdict.DROP;
        }
        int mtu = request.pathMtu();
        return mtu < PathMtu.MTU_256.code() || mtu > at.pathMtu().code()
                ? RequestFilter.Verdict.INVALID_PATH_MTU
                : RequestFilter.Verdict.TAKE;
    }

    /** Returns the verdict about a SIDR_REQ. */
    RequestFilter.Verdict verdict(CmRoute route, SidrReq request) {
        if (!isWanted(route, request.privateData())) {
            return RequestFilter.Verdict.DECLINE;
        }
        return listener.localEndpointOf(route) == null ? RequestFilter.Verdict.DROP : RequestFilter.Verdict.TAKE;
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
                new InetSocketAddress(route.remote().toInetAddress(), header.sourcePort()),
                new InetSocketAddress(route.local().toInetAddress(), listener.listeningPort()),
                listener.portSpace());
        try {
            return listener.accessFilter().test(attempt);
        } catch (RuntimeException | Error e) {
            listener.warnings().onFilterFailure(attempt, e);
            return false;
        }
    }

    private static boolean isUnicast(IpCmHeader header) {
        return !header.source().equals(Gid.ZERO)
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
                && local.gid().equals(header.destination())
                && CmRoute.isSameLink(local.scope(), route.scope());
    }

    private boolean isServed(CmRoute route) {
        LocalEndpoint at = listener.localEndpointOf(route);
        return at != null && listening.serves(at.address());
    }
}
