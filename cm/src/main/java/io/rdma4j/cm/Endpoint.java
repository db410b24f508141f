package io.rdma4j.cm;

import io.rdma4j.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a passive endpoint remembers for the connections that it will take, and the way an endpoint is made.
 *
 * @param protectionDomain domain of their queue pairs, or null for the device's default
 * @param attributes what their queue pairs are made of
 */
record Endpoint(@Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
    private static final String CREATE = "rdma_create_ep";

    /** How long address and route may take each, as in librdmacm. */
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
                    id.core().remember(new Endpoint(protectionDomain, attributes));
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
            IdQueues.inTurnAfter(failed, id::close);
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

    /** Makes the queue pair of a connection request; the request is closed if that fails. */
    void equip(CmId request) {
        try {
            request.createQueuePair(protectionDomain, attributes);
        } catch (RuntimeException | Error failed) {
            IdQueues.inTurnAfter(failed, request::close);
            throw failed;
        }
    }
}
