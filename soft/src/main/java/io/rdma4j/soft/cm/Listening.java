package io.rdma4j.soft.cm;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.transport.cm.CmListening;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a listening identifier holds: its entry in the protocol machine, and its service at each local address. */
final class Listening {
    private static final int MAX_BACKLOG = 1024;

    private final CmService service;
    private final IdAddresses addresses;
    private final long serviceId;
    private final int backlog;
    private final Set<InetAddress> served = new LinkedHashSet<>();
    private @Nullable CmListening entry;
    private boolean closed;

    Listening(CmService service, SoftCmId id, IdAddresses addresses, int backlog) {
        this.service = service;
        this.addresses = addresses;
        this.serviceId = id.portSpace().serviceId(addresses.requireLocal().getPort());
        this.backlog = backlog <= 0 || backlog > MAX_BACKLOG ? MAX_BACKLOG : backlog;
    }

    /**
     * Begins to take requests. The protocol machine knows the listener before any address serves it, so that none is
     * refused in between.
     */
    void open(RequestListener listener) {
        PortTable.Hold hold = addresses.hold();
        if (hold != null) {
            service.ports().listen(hold);
        }
        entry = service.locked(now -> service.agent().listen(serviceId, listener, backlog));
        try {
            InetAddress bound = addresses.requireLocal().getAddress();
            if (bound.isAnyLocalAddress()) {
                serveAll(bound);
            } else {
                serve(bound);
            }
        } catch (RdmaException failed) {
            close();
            throw failed;
        }
    }

    private void serve(InetAddress address) {
        service.host().registerService(address, serviceId);
        served.add(address);
    }

    /** Serves all addresses that can be had; fails only if none can. */
    private void serveAll(InetAddress wildcard) {
        RdmaException failure = null;
        boolean ipv4Only = wildcard instanceof Inet4Address;
        boolean ipv6Only = !ipv4Only && addresses.isFamilyOnly();
        for (InetAddress address : service.host().addresses()) {
            boolean ipv4 = address instanceof Inet4Address;
            if (ipv4 ? !ipv6Only : !ipv4Only) {
                failure = tryServe(address, failure);
            }
        }
        if (served.isEmpty()) {
            throw failure != null
                    ? failure
                    : new RdmaException(
                            "rdma_listen",
                            Errno.ENODEV,
                            "no software device has an address of the family of " + AddressText.of(wildcard),
                            "Bring a network interface up, at least the loopback one");
        }
    }

    private @Nullable RdmaException tryServe(InetAddress address, @Nullable RdmaException before) {
        if (served.contains(address)) {
            return before;
        }
        try {
            if (service.attach(address) != null) {
                serve(address);
            }
            return before;
        } catch (RdmaException refused) {
            return before == null ? refused : before;
        }
    }

    /** Takes no more requests. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (InetAddress address : served) {
            service.host().unregisterService(address, serviceId);
        }
        CmListening old = entry;
        if (old != null) {
            service.locked(now -> {
                old.close();
                return old;
            });
        }
    }
}
