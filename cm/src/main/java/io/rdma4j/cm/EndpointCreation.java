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
        try {
            if (information.isPassive()) {
                id.bindAddress(required(information.source(), "source"));
                if (attributes != null) {
                    id.core().setEndpoint(new EndpointCreation(protectionDomain, attributes));
                }
            } else {
                id.resolveAddress(information.source(), required(information.destination(), "destination"), RESOLUTION);
                id.resolveRoute(RESOLUTION);
                if (attributes != null) {
                    id.createQueuePair(protectionDomain, attributes);
                }
            }
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
        try {
            request.createQueuePair(protectionDomain, attributes);
        } catch (RuntimeException | Error failed) {
            IdQueues.runAllAfter(failed, request::close);
            throw failed;
        }
    }
}
