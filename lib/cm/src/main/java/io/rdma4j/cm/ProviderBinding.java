package io.rdma4j.cm;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.LocalAddresses;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.VerbsProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The provider identifiers of one {@link CmId}. The list is empty until an address determines the provider. After
 * binding to a wildcard, it has one identifier for each provider; otherwise one identifier. The identifier's lock
 * serialises the calls.
 */
final class ProviderBinding {
    /** A provider's identifier and its provider. */
    private record Part(CmProvider provider, ProviderCmId id) {}

    private final CmProviders providers;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final CmEventSink sink;
    private final List<Consumer<ProviderCmId>> options = new ArrayList<>();
    private volatile List<ProviderCmId> ids = List.of();
    private List<Part> parts = List.of();

    ProviderBinding(CmProviders providers, PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        this.providers = providers;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.sink = sink;
    }

    /** Creates the binding of a connection request. The provider has created its identifier. */
    ProviderBinding(
            CmProviders providers,
            PortSpace portSpace,
            QueuePairType queuePairType,
            CmEventSink sink,
            ProviderCmId child) {
        this(providers, portSpace, queuePairType, sink);
        ids = List.of(child);
    }

    /** Returns the first identifier, or null if the list is empty. */
    @Nullable
    ProviderCmId first() {
        List<ProviderCmId> current = ids;
        return current.isEmpty() ? null : current.getFirst();
    }

    /** Returns the first identifier, or throws an exception if the list is empty. */
    ProviderCmId required(String operation, String hint) {
        ProviderCmId id = first();
        if (id == null) {
            throw new RdmaException(
                    operation, Errno.EINVAL, "the identifier is idle: it has no address and no device", hint);
        }
        return id;
    }

    /** Applies an option now, or when the first identifier is created. */
    void option(Consumer<ProviderCmId> option) {
        List<ProviderCmId> current = ids;
        current.forEach(option);
        if (current.isEmpty()) {
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
            IdQueues.runAllAfter(failed, id::close);
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
            providers.requireDevices("rdma_bind_addr");
            candidates = providers.ofWildcard();
            if (providers.isChoiceMissing()) {
                throw new RdmaException(
                        "rdma_bind_addr",
                        Errno.ENODEV,
                        "the requested device does not exist, so it cannot bind " + AddressText.of(address),
                        providers.hint());
            }
        } else {
            CmProvider provider = providers.of(address);
            if (provider == null) {
                throw noDevice("rdma_bind_addr", address);
            }
            candidates = List.of(provider);
        }
        bindAll(candidates, local);
    }

    /** Binds an identifier of each provider, all of them to the same port. */
    void bindAll(List<CmProvider> candidates, InetSocketAddress local) {
        List<Part> created = new ArrayList<>();
        InetSocketAddress requested = local;
        try {
            for (CmProvider provider : candidates) {
                Part part = create(provider);
                created.add(part);
                part.id.bind(requested);
                InetSocketAddress bound = part.id.localAddress();
                requested = bound == null ? requested : new InetSocketAddress(local.getAddress(), bound.getPort());
            }
            use(created);
        } catch (RuntimeException | Error failed) {
            IdQueues.runAllAfter(
                    failed,
                    created.stream().<Runnable>map(part -> part.id::close).toArray(Runnable[]::new));
            throw failed;
        }
    }

    /**
     * Resolves an address. If the route determines the provider, this method looks it up, otherwise the provider does.
     */
    void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        String operation = "rdma_resolve_addr";
        InetAddress target = requireResolved(operation, destination);
        InetAddress wanted = source == null ? null : requireResolved(operation, source);
        if (target.isAnyLocalAddress()) {
            target = RouteLookup.loopbackOf(target);
        }
        InetSocketAddress peer = new InetSocketAddress(target, destination.getPort());
        boolean isOnly = ids.size() == 1;
        if (isOnly && isBoundToOneAddress(ids.getFirst())) {
            ids.getFirst().resolveAddress(source, peer, null, timeout);
            return;
        }
        InetAddress routeSource =
                wanted == null || wanted.isAnyLocalAddress() ? providers.sourceFor(operation, target) : null;
        InetAddress local = routeSource == null ? Objects.requireNonNull(wanted) : routeSource;
        CmProvider provider = providers.of(local);
        if (provider != null) {
            // An identifier that is bound to a wildcard keeps its port, unless the user has named a device of another
            // provider.
            ProviderCmId id = isOnly && providers.areAllAllowed() ? ids.getFirst() : keepOnly(provider);
            id.resolveAddress(source, peer, routeSource, timeout);
        } else if (routeSource == null) {
            throw noDevice(operation, local);
        } else {
            sink.onEvent(new CmEvent.Failure(
                    CmEvent.Type.ADDRESS_ERROR,
                    -Errno.ENODEV.number(),
                    "cannot reach " + AddressText.of(target) + ": " + missing(local)));
        }
    }

    private static boolean isBoundToOneAddress(ProviderCmId id) {
        InetSocketAddress local = id.localAddress();
        return local != null && !local.getAddress().isAnyLocalAddress();
    }

    /** Keeps only the identifier of one provider, and creates it if it does not exist. */
    ProviderCmId keepOnly(CmProvider provider) {
        List<Part> before = parts;
        Part kept = before.stream()
                .filter(part -> part.provider.equals(provider))
                .findFirst()
                .orElseGet(() -> create(provider));
        use(List.of(kept));
        IdQueues.runAll(before.stream()
                .filter(part -> !part.equals(kept))
                .<Runnable>map(part -> part.id::close)
                .toArray(Runnable[]::new));
        return kept.id;
    }

    void listen(int backlog) {
        if (ids.isEmpty()) {
            bind(new InetSocketAddress(RouteLookup.anyIpv4(), 0));
        }
        if (parts.size() > 1) {
            listenAtAny(backlog);
        } else {
            ids.forEach(id -> id.listen(backlog));
        }
    }

    /**
     * Listens with each provider, and drops providers that cannot listen, unless none can. For example, the software
     * device cannot receive where the kernel's software device has bound the RoCE port.
     */
    private void listenAtAny(int backlog) {
        List<Part> before = parts;
        List<Part> listening = new ArrayList<>();
        RdmaException refusal = null;
        for (Part part : before) {
            try {
                part.id.listen(backlog);
                listening.add(part);
            } catch (RdmaException refused) {
                refusal = refusal == null ? refused : refusal;
            }
        }
        if (listening.isEmpty() && refusal != null) {
            throw refusal;
        }
        use(listening);
        IdQueues.runAll(before.stream()
                .filter(part -> !listening.contains(part))
                .<Runnable>map(part -> part.id::close)
                .toArray(Runnable[]::new));
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

    /** Explains why a peer cannot be reached from the local address that leads to it, with a remedy. */
    private String missing(InetAddress local) {
        String refusal = providers.refusal(local);
        String leads = AddressText.of(local) + ", the address of this host that leads there";
        return refusal.isEmpty()
                ? "no RDMA device has " + leads + " (ENODEV). " + providers.hint()
                : leads + ", belongs to " + refusal + " (ENODEV). " + VerbsProvider.REFUSAL_HINT;
    }

    private RdmaException noDevice(String operation, InetAddress local) {
        String refusal = providers.refusal(local);
        return refusal.isEmpty()
                ? LocalAddresses.refusal(operation, local, LocalAddresses.isOfThisHost(local), providers.hint())
                : new RdmaException(
                        operation,
                        Errno.ENODEV,
                        "the local address " + AddressText.of(local) + " belongs to " + refusal,
                        VerbsProvider.REFUSAL_HINT);
    }
}
