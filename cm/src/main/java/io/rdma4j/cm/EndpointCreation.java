package io.rdma4j.cm;

import io.rdma4j.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Creates endpoints, and holds the attributes of the queue pairs of a passive endpoint's connections.
 *
 * @param protectionDomain protection domain of the queue pairs, or null for the device's default
 * @param attributes attributes of the queue pairs
 */
record EndpointCreation(@Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
    private static final String CREATE = "rdma_create_ep";

    /** Timeout of address and of route resolution, as in librdmacm. */
    private static final Duration RESOLUTION = Duration.ofSeconds(2);

    static CmId create(
            AddressInformation information,
            @Nullable ProtectionDomain protectionDomain,
            @Nullable CmQueuePairAttributes attributes) {
        CmId id = CmId.create(information.portSpace(), information.queuePairType(), null);
        return orClose(id, () -> {
            if (information.isPassive()) {
                bind(id, required(information.source(), "source"), protectionDomain, attributes);
            } else {
                InetSocketAddress destination = required(information.destination(), "destination");
                resolve(id, information.source(), destination, protectionDomain, attributes);
            }
        });
    }

    /** Binds an identifier, whose {@link CmId#getRequest} then creates queue pairs if there are attributes. */
    static void bind(
            CmId id,
            InetSocketAddress local,
            @Nullable ProtectionDomain protectionDomain,
            @Nullable CmQueuePairAttributes attributes) {
        id.bindAddress(local);
        if (attributes != null) {
            id.core().setEndpoint(new EndpointCreation(protectionDomain, attributes));
        }
    }

    /** Resolves address and route of an identifier, and creates its queue pair if there are attributes. */
    static void resolve(
            CmId id,
            @Nullable InetSocketAddress source,
            InetSocketAddress destination,
            @Nullable ProtectionDomain protectionDomain,
            @Nullable CmQueuePairAttributes attributes) {
        id.resolveAddress(source, destination, RESOLUTION);
        id.resolveRoute(RESOLUTION);
        if (attributes != null) {
            id.createQueuePair(protectionDomain, attributes);
        }
    }

    /** Runs the steps that make an identifier ready, and returns it. If a step fails, the identifier is closed. */
    static CmId orClose(CmId id, Runnable steps) {
        try {
            steps.run();
            return id;
        } catch (RuntimeException | Error failed) {
            IdQueues.runAllAfter(failed, id::close);
            throw failed;
        }
    }

    private static InetSocketAddress required(@Nullable InetSocketAddress address, String name) {
        if (address == null) {
            throw IdCore.invalid(
                    CREATE, "the address information has no " + name, "Look it up with a node or a service");
        }
        return address;
    }

    /** Creates the queue pair of a connection request. If that fails, the request is closed. */
    void createQueuePair(CmId request) {
        var _ = orClose(request, () -> request.createQueuePair(protectionDomain, attributes));
    }
}
