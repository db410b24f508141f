package io.rdma4j.cm.spi;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.QueuePairType;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A source of connection management for some of this host's addresses, found by {@link java.util.ServiceLoader}: what
 * Linux's {@code rdma_ucm} is to librdmacm. Thread safe.
 */
public interface CmProvider {
    /** Short name, for messages and for {@code RDMA4J_DEVICE}: {@code soft}. */
    String name();

    /** Providers are asked for an address in falling order of this; the software device has 0, hardware more. */
    int preference();

    /** Whether there is any device now. */
    boolean hasDevices();

    /** Returns the devices that are there now. */
    List<Device> devices();

    /**
     * Returns the local address from which the host sends to a destination.
     *
     * @param operation the C name of the call that needs it, for the message
     * @param source the local address that must be used, or null for the host's choice
     * @param destination a unicast or multicast address
     * @throws io.rdma4j.verbs.RdmaException {@code ENETUNREACH} if there is no route
     */
    InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination);

    /**
     * Whether a device has this local address.
     *
     * @param local an address of this host, not a wildcard
     */
    boolean serves(InetAddress local);

    /**
     * Makes an identifier, in the idle state.
     *
     * @param portSpace the port space
     * @param queuePairType the type of its queue pairs, any in the port space {@code IB}, else that of the space
     * @param sink where its events go
     */
    ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink);
}
