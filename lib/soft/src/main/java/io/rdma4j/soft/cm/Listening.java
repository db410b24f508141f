package io.rdma4j.soft.cm;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.transport.cm.ListenedService;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.DeviceChoice;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a listening identifier: its entry in the protocol machine, and its service at each local address.
 */
final class Listening {
    private static final int MAX_BACKLOG = 1024;

    private final CmService service;
    private final IdAddresses addresses;
    private final boolean isDatagram;
    private final long serviceId;
    private final int backlog;
    private final DeviceChoice choice = DeviceChoice.current();

    /** Changed by one thread at a time. */
    private final Map<String, InetAddress> served = new ConcurrentHashMap<>();

    /**
     * Addresses whose UDP port could not be used. They are not tried again while they exist, since that would cost
     * time.
     */
    private final Set<String> refused = new HashSet<>();

    /** The entry; closed under the engine's lock. */
    private @Nullable ListenedService<?> entry;

    private boolean closed;

    Listening(CmService service, SoftCmId id, IdAddresses addresses, int backlog) {
        this.service = service;
        this.addresses = addresses;
        this.isDatagram = id.isDatagram();
        this.serviceId = id.portSpace().serviceId(addresses.requireLocal().getPort());
        this.backlog = backlog <= 0 || backlog > MAX_BACKLOG ? MAX_BACKLOG : backlog;
    }

    /**
     * Starts to receive requests. The protocol machine has the listener before any address serves it, so that no
     * request is rejected in between.
     */
    void open(SoftCmId id, ListenerFilter filter) {
        PortTable.Hold hold = addresses.hold();
        if (hold != null) {
            service.ports().listen(hold);
        }
        service.run(now -> entry = isDatagram
                ? service.agent().serve(serviceId, filter::verdict, backlog, id)
                : service.agent().listen(serviceId, filter::verdict, backlog, id));
        try {
            InetAddress bound = addresses.requireLocal().getAddress();
            if (bound.isAnyLocalAddress()) {
                serveAll(bound);
                service.addressWatch().add(this);
            } else {
                serve(bound);
            }
        } catch (RdmaException failed) {
            close();
            throw failed;
        }
    }

    /** Serves the requests that arrived before the listener existed. */
    void serveEarlyRequests() {
        service.run(now -> service.agent().onListening(now, serviceId));
    }

    /** Returns whether the user has chosen no device. */
    boolean acceptsAllDevices() {
        return choice.requested() == null;
    }

    boolean serves(InetAddress address) {
        return served.containsKey(AddressText.of(address));
    }

    private void serve(InetAddress address) {
        service.endpoints().registerService(address, serviceId);
        served.put(AddressText.of(address), address);
    }

    /** Serves all addresses that can be used; fails only if none can. */
    private void serveAll(InetAddress wildcard) {
        RdmaException failure = servePresentAddresses(wildcard);
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

    /** Also serves addresses that did not exist before; only for a wildcard. */
    synchronized void serveNewAddresses() {
        if (closed) {
            return;
        }
        try {
            var _ = servePresentAddresses(addresses.requireLocal().getAddress());
        } catch (RdmaException unlistable) {
            // The system currently lists no interfaces, for lack of descriptors: the next scan may find more.
            return;
        }
    }

    /** Serves all addresses that can be used; returns the first failure, or null. */
    private @Nullable RdmaException servePresentAddresses(InetAddress wildcard) {
        RdmaException failure = null;
        List<InetAddress> present = service.endpoints().addresses(choice, wildcard, addresses.isFamilyOnly());
        refused.retainAll(present.stream().map(AddressText::of).toList());
        for (InetAddress address : present) {
            failure = tryServe(address, failure);
        }
        return failure;
    }

    private @Nullable RdmaException tryServe(InetAddress address, @Nullable RdmaException earlier) {
        String name = AddressText.of(address);
        boolean isServed = served.containsKey(name);
        if (refused.contains(name) || isServed && service.endpoints().isAttached(address)) {
            return earlier;
        }
        try {
            // An address that is served already was removed with its interface, and is back on another one.
            if (service.endpoints().attach(address) != null && !isServed) {
                serve(address);
            }
            return earlier;
        } catch (RdmaException refusal) {
            if (refusal.errno() != Errno.EMFILE && refusal.errno() != Errno.EINTR) {
                refused.add(name);
            }
            return earlier == null ? refusal : earlier;
        }
    }

    private void unserve(InetAddress address) {
        service.endpoints().unregisterService(address, serviceId);
    }

    /** Stops receiving requests. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        service.addressWatch().remove(this);
        for (InetAddress address : served.values()) {
            unserve(address);
        }
        ListenedService<?> old = entry;
        if (old != null) {
            service.run(now -> old.close());
        }
    }
}
