package io.rdma4j.soft.host;

import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The network interfaces and routes of the host that a stack runs on. Implementations are thread safe. */
public interface HostNetwork {
    /** The host of this process. */
    HostNetwork SYSTEM = new SystemNetwork();

    /**
     * Returns the interfaces that have an address, as they are now.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    List<InterfaceView> interfaces() throws SocketException;

    /**
     * Returns the interface with a name as it is now, or null if there is none or it has no address.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    @Nullable
    InterfaceView named(String name) throws SocketException;

    /**
     * Returns the interface with a name as it was at most 0.1 seconds ago; null if there is none or it has no address.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    @Nullable
    InterfaceView recentlyNamed(String name) throws SocketException;

    /**
     * Returns the interface that has an address, as it was at most 0.1 seconds ago, or null if none has it. A new interface or
     * address is found immediately. All of 127/8 belongs to the loopback interface.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    @Nullable
    InterfaceView recent(InetAddress address) throws SocketException;

    /**
     * Returns whether an interface has an address now. All of 127/8 belongs to the loopback interface.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    boolean hasAddress(InetAddress address) throws SocketException;

    /**
     * Returns whether an interface that has an address is up, or was 0.1 seconds ago.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    boolean isAnyUp() throws SocketException;

    /** Returns the addresses of an interface in the order in which it got them, as far as the host knows it. */
    List<InetAddress> oldestFirst(InterfaceView network);

    /** Returns whether interfaces, addresses or routes can change while a stack uses the host. */
    boolean canChange();

    /** Returns whether an interface may exist that {@link #interfaces} does not list because it has no address. */
    boolean mayExistWithoutAddress(String name);

    /** Returns how often an interface has regained its carrier, or -1 if that is unknown. */
    long carrierReturns(InterfaceView network);

    /** Discards the cached interfaces and routes after a change. */
    void invalidateCaches();

    /**
     * Returns a source of notifications of changes, or null if the host has none. The caller closes it.
     */
    @Nullable
    InterfaceMonitor openInterfaceMonitor();

    /**
     * Returns the local address from which the host sends to a destination.
     *
     * @param operation the C name of the call that needs it, for the message
     * @param source the local address that must be used, or null for the host's choice
     * @param destination a unicast or multicast address
     * @throws RdmaException {@code ENETUNREACH} if there is no route
     */
    InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination);
}
