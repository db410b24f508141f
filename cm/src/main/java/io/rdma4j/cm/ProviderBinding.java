package io.rdma4j.cm;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.cm.spi.RouteLookup;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The providers' identifiers behind one {@link CmId}: none before an address says which provider is meant, one for each
 * provider after binding to a wildcard, else one. Calls are serialised by the identifier's lock.
 */
final class ProviderBinding {
    /** A provider's identifier and where it came from. */
    private record Part(CmProvider provider, ProviderCmId id) {}

    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final CmEventSink sink;
    private final List<Consumer<ProviderCmId>> options = new ArrayList<>();
    private volatile List<ProviderCmId> ids = List.of();
    private List<Part> parts = List.of();

    ProviderBinding(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.sink = sink;
    }

    /** The binding of a connection that a provider made. */
    ProviderBinding(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink, ProviderCmId child) {
        this(portSpace, queuePairType, sink);
        ids = List.of(child);
    }

    /** The first identifier, or null while there is none. */
    @Nullable
    ProviderCmId first() {
        List<ProviderCmId> now = ids;
        return now.isEmpty() ? null : now.getFirst();
    }

    /** The identifier, for an operation that needs one. */
    ProviderCmId required(String operation, String hint) {
        ProviderCmId id = first();
        if (id == null) {
            throw new RdmaException(
                    operation, Errno.EINVAL, "the identifier is idle: it has no address and no device", hint);
        }
        return id;
    }

    /** Applies an option now, or as soon as there is something to apply it to. */
    void option(Consumer<ProviderCmId> option) {
        List<ProviderCmId> now = ids;
        now.forEach(option);
        if (now.isEmpty()) {
            options.add(option);
        }
    }

    private void use(List<Part> chosen) {
        parts = List.copyOf(chosen);
        ids = chosen.stream().map(Part::id).toList();
    }

    private Part create(CmProvider provider) {
        ProviderCmId id = provider.create(portSpace, queuePairType, sink);
        try {
            options.forEach(option -> option.accept(id));
            return new Part(provider, id);
        } catch (RuntimeException | Error failed) {
            IdQueues.inTurnAfter(failed, id::close);
            throw failed;
        }
    }

    void bind(InetSocketAddress local) {
        ProviderCmId bound = first();
        if (bound != null) {
            bound.bind(local); // reports the wrong state
            return;
        }
        InetAddress address = requireResolved("rdma_bind_addr", local);
        List<CmProvider> candidates;
        if (address.isAnyLocalAddress()) {
            Providers.requireDevices("rdma_bind_addr");
            candidates = Providers.usable();
            if (Providers.isChoiceMissing()) {
                throw new RdmaException(
                        "rdma_bind_addr",
                        Errno.ENODEV,
                        "the device that was asked for is not there to bind " + AddressText.of(address),
                        Providers.hint());
            }
        } else {
            CmProvider provider = Providers.of(address);
            if (provider == null) {
                throw noDevice("rdma_bind_addr", address);
            }
            candidates = List.of(provider);
        }
        bindAll(candidates, local);
    }

    /** Binds an identifier of each provider, all to one port. */
    void bindAll(List<CmProvider> candidates, InetSocketAddress local) {
        List<Part> made = new ArrayList<>();
        InetSocketAddress wanted = local;
        try {
            for (CmProvider provider : candidates) {
                Part part = create(provider);
                made.add(part);
                part.id.bind(wanted);
                InetSocketAddress got = part.id.localAddress();
                wanted = got == null ? wanted : new InetSocketAddress(local.getAddress(), got.getPort());
            }
            use(made);
        } catch (RuntimeException | Error failed) {
            IdQueues.inTurnAfter(
                    failed, made.stream().<Runnable>map(part -> part.id::close).toArray(Runnable[]::new));
            throw failed;
        }
    }

    void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        String operation = "rdma_resolve_addr";
        InetAddress target = requireResolved(operation, destination);
        if (target.isAnyLocalAddress()) {
            target = RouteLookup.loopbackOf(target);
        }
        if (ids.size() == 1 && (Providers.areAllAllowed() || isBoundToOneAddress(ids.getFirst()))) {
            ids.getFirst().resolveAddress(source, destination, timeout);
            return;
        }
        InetAddress local = source != null && !source.getAddress().isAnyLocalAddress()
                ? requireResolved(operation, source)
                : RouteLookup.sourceFor(operation, null, target);
        CmProvider provider = Providers.of(local);
        if (provider == null) {
            if (source != null && local.equals(source.getAddress())) {
                throw noDevice(operation, local);
            }
            sink.onEvent(new ProviderEvent(
                    CmEvent.Type.ADDRESS_ERROR,
                    -Errno.ENODEV.number(),
                    ConnectionParameters.NONE,
                    "cannot reach " + AddressText.of(target) + ": no RDMA device has " + AddressText.of(local)
                            + ", the address of this host that leads there (ENODEV). " + Providers.hint()));
            return;
        }
        ProviderCmId chosen = keepOnly(provider);
        chosen.resolveAddress(source, destination, timeout);
    }

    private static boolean isBoundToOneAddress(ProviderCmId id) {
        InetSocketAddress local = id.localAddress();
        return local != null && !local.getAddress().isAnyLocalAddress();
    }

    /** Leaves the one identifier of a provider, made if there is none. */
    ProviderCmId keepOnly(CmProvider provider) {
        List<Part> before = parts;
        Part kept = before.stream()
                .filter(part -> part.provider.equals(provider))
                .findFirst()
                .orElseGet(() -> create(provider));
        use(List.of(kept));
        IdQueues.inTurn(before.stream()
                .filter(part -> !part.equals(kept))
                .<Runnable>map(part -> part.id::close)
                .toArray(Runnable[]::new));
        return kept.id;
    }

    void listen(int backlog) {
        if (ids.isEmpty()) {
            bind(new InetSocketAddress(RouteLookup.anyIpv4(), 0));
        }
        ids.forEach(id -> id.listen(backlog));
    }

    void close() {
        ids.forEach(ProviderCmId::close);
    }

    private static InetAddress requireResolved(String operation, InetSocketAddress address) {
        InetAddress resolved = address.getAddress();
        if (resolved == null) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    "the name " + address.getHostString() + " has no address",
                    "Check the name, or give an address");
        }
        return resolved;
    }

    /** As in Linux an address of nobody here is another error than one of an interface without device. */
    private static RdmaException noDevice(String operation, InetAddress local) {
        boolean isOurs = isOfThisHost(local);
        return new RdmaException(
                operation,
                isOurs ? Errno.ENODEV : Errno.EADDRNOTAVAIL,
                (isOurs ? "no RDMA device has the local address " : "no network interface that is up has the address ")
                        + AddressText.of(local),
                Providers.hint());
    }

    private static boolean isOfThisHost(InetAddress address) {
        try {
            NetworkInterface link = NetworkInterface.getByInetAddress(address);
            return address.isLoopbackAddress() || link != null && link.isUp();
        } catch (SocketException unknown) {
            return true;
        }
    }
}
