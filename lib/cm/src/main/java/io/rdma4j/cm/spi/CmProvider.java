package io.rdma4j.cm.spi;

import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.wait.WaitDriver;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A provider of connection management for some of this host's addresses, found by {@link java.util.ServiceLoader}. It
 * is the counterpart of Linux's {@code rdma_ucm} under librdmacm. Thread safe.
 */
public interface CmProvider {
    /** Returns the short name, such as {@code soft}, for messages and for {@code RDMA4J_DEVICE}. */
    String name();

    /**
     * Returns the preference. Providers are considered for an address in descending order of preference. The software
     * device has 0, hardware has a higher value.
     */
    int preference();

    /** Returns whether the provider currently has a device. */
    boolean hasDevices();

    /** Returns the current devices. */
    List<Device> devices();

    /**
     * Returns the local address from which the host sends to a destination.
     *
     * @param operation the C name of the call that needs it, for the message
     * @param source the local address that must be used, or null for the host's choice
     * @param destination a unicast or multicast address
     * @throws io.rdma4j.verbs.RdmaException {@code ENETUNREACH} if the host has no route
     */
    InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination);

    /**
     * Returns whether a device has this local address.
     *
     * @param local an address of this host, not a wildcard
     */
    boolean serves(InetAddress local);

    /**
     * Returns a clause that names the device with this local address, and explains why this process cannot use it.
     * Empty if the provider has no such device. After a refusal, no other provider serves the address, because the
     * network card does not pass RoCE packets to programs.
     *
     * @param local an address of this host, not a wildcard
     */
    default String refusal(InetAddress local) {
        return "";
    }

    /**
     * Returns the driver that makes progress while a thread waits for events of the provider's identifiers. Null before
     * the provider has started, when it has no events yet.
     */
    @Nullable
    WaitDriver waitDriver();

    /**
     * Creates an identifier in the idle state.
     *
     * @param portSpace the port space
     * @param queuePairType the type of its queue pairs: any type in the port space {@code IB}, otherwise the port
     *     space's
     * @param sink receives the identifier's events
     */
    ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink);

    /**
     * Disconnects from all peers and sends pending data, because the process ends. Returns within 0.3 seconds, even if
     * a peer does not reply. Later calls of the provider do not fail because of this call. Does nothing if the kernel
     * disconnects after the end of the process.
     */
    default void finish() {}

    /**
     * Returns the file from which another process reads the peers to disconnect if this process is killed. Null if the
     * kernel disconnects them, or if the file does not exist, for example before the first identifier.
     */
    default @Nullable Path connectionsFile() {
        return null;
    }
}
