package io.rdma4j.soft.cm;

import io.rdma4j.soft.device.AttackWarnings;
import io.rdma4j.soft.device.PeerReputation;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.ConnectionObserver;
import io.rdma4j.verbs.DeviceChoice;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What connection management needs of the rest of the software device: the engine in earnest, a simulation in tests. */
interface CmHost {
    /** Takes the lock under which all protocol state is, and reads the clock. */
    void lock();

    /** Gives the lock back. */
    void unlock();

    /** Returns the clock; any thread. */
    StackClock clock();

    /** Monotonic time; under the lock. */
    long nowNanos();

    /** Calls {@link CmService#onDeadline} at that time, instead of any time set before; under the lock. */
    void wakeAt(long deadlineNanos);

    /** Sends a management datagram, which may get lost; under the lock. */
    void send(CmDatagram datagram);

    /** Who is told of all connections; under the lock. */
    ConnectionObserver connectionWatch();

    /** GUID of this process' channel adapter. */
    long caGuid();

    /** Proposes a communication ID that leads answers back to this process; under the lock. */
    int newCommunicationId();

    /** What the data path and connection management tell each other of peers. */
    PeerReputation peerReputation();

    /** How this process guards itself. */
    SecurityOptions security();

    /** Returns the warnings about what looks like an attack. */
    AttackWarnings warnings();

    /** An unpredictable number; any thread. */
    int random();

    /**
     * The local address from which a destination is reached; see {@link io.rdma4j.cm.spi.RouteLookup#sourceFor}. Without
     * the lock.
     */
    InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination);

    /** Local addresses of the devices that a choice allows now. Without the lock. */
    List<InetAddress> addresses(DeviceChoice choice);

    /**
     * Where a local address is now; it is not made ready for traffic. Without the lock.
     *
     * @return null if no device has the address
     */
    @Nullable
    LocalEndpoint find(InetAddress address);

    /**
     * Makes a local address ready for traffic. Without the lock.
     *
     * @return null if no device has the address
     * @throws io.rdma4j.verbs.RdmaException if its UDP port cannot be had
     */
    @Nullable
    LocalEndpoint attach(InetAddress address);

    /**
     * Whether an address of this host has nobody who answers there, for all that can be told now. Without the lock.
     */
    boolean isVacant(InetAddress address);

    /** Something that this process has until it is closed. */
    interface Claim extends AutoCloseable {
        @Override
        void close();
    }

    /** A port that this process has until it is closed. */
    interface PortClaim extends Claim {
        /**
         * Keeps the port for this claim alone. Without the lock.
         *
         * @throws io.rdma4j.verbs.RdmaException {@code EADDRINUSE} or {@code EADDRNOTAVAIL} if another has it, too
         */
        void listen();

        /** Lets others that also allow it have the port, too. Without the lock. */
        void allowReuse();
    }

    /**
     * Claims a port number against all processes of this host. Without the lock.
     *
     * @param local address, or a wildcard
     * @param familyOnly whether a wildcard leaves the other address family alone
     * @param reuse whether others may share it
     * @throws io.rdma4j.verbs.RdmaException {@code EADDRINUSE} or {@code EADDRNOTAVAIL} if it is taken
     */
    PortClaim claimPort(int portSpace, InetAddress local, boolean familyOnly, boolean reuse, int port);

    /**
     * Makes this host a member of a multicast group on the network interface of an attached address, until the claim is
     * closed. Without the lock.
     *
     * @throws io.rdma4j.verbs.RdmaException if the kernel does not allow it
     */
    Claim joinGroup(LocalEndpoint at, Gid group);

    /** From now on connection requests to an attached address for the service ID come to this process. Without the lock. */
    void registerService(InetAddress local, long serviceId);

    /** Takes {@link #registerService} back. Without the lock. */
    void unregisterService(InetAddress local, long serviceId);
}
