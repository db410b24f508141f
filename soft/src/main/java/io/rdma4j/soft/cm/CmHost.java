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

/** The interface of connection management to the rest of the software device: the engine, or a simulation in tests. */
interface CmHost {
    /** Takes the lock that guards all protocol state, and reads the clock. */
    void lock();

    /** Releases the lock. */
    void unlock();

    /** Returns the clock; any thread. */
    StackClock clock();

    /** Returns the monotonic time; under the lock. */
    long nowNanos();

    /** Sets the time at which to call {@link CmService#onDeadline}, instead of an earlier setting; under the lock. */
    void wakeAt(long deadlineNanos);

    /** Sends a management datagram, unreliably; under the lock. */
    void send(CmDatagram datagram);

    /** Returns the observer of all connections; under the lock. */
    ConnectionObserver connectionWatch();

    /** Returns the GUID of this process' channel adapter. */
    long caGuid();

    /** Proposes a communication ID that routes replies to this process; under the lock. */
    int newCommunicationId();

    /** Returns the knowledge about peers that the data path and connection management share. */
    PeerReputation peerReputation();

    /** Returns the limits on what peers may do. */
    SecurityOptions security();

    /** Returns the logger of possible attacks. */
    AttackWarnings warnings();

    /** Returns an unpredictable number; any thread. */
    int random();

    /**
     * Returns the local address from which a destination is reached; see {@link
     * io.rdma4j.cm.host.RouteLookup#sourceFor}. Without the lock.
     */
    InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination);

    /** Returns the current local addresses of the devices that a choice allows. Without the lock. */
    List<InetAddress> addresses(DeviceChoice choice);

    /**
     * Returns the current device of a local address, without making the address ready for traffic. Without the lock.
     *
     * @return null if no device has the address
     */
    @Nullable
    LocalEndpoint find(InetAddress address);

    /**
     * Makes a local address ready for traffic. Without the lock.
     *
     * @return null if no device has the address
     * @throws io.rdma4j.verbs.RdmaException if its UDP port cannot be used
     */
    @Nullable
    LocalEndpoint attach(InetAddress address);

    /** Returns whether no process answers at an address of this host, as far as is known now. Without the lock. */
    boolean isVacant(InetAddress address);

    /** A resource that this process holds until it is closed. */
    interface Claim extends AutoCloseable {
        @Override
        void close();
    }

    /** A port that this process holds until it is closed. */
    interface PortClaim extends Claim {
        /**
         * Makes the claim exclusive. Without the lock.
         *
         * @throws io.rdma4j.verbs.RdmaException {@code EADDRINUSE} or {@code EADDRNOTAVAIL} if the port is also claimed
         *     elsewhere
         */
        void listen();

        /** Allows further claims of the port that also allow reuse. Without the lock. */
        void allowReuse();
    }

    /**
     * Claims a port number among all processes of this host. Without the lock.
     *
     * @param local address, or a wildcard
     * @param familyOnly true if a wildcard does not include the other address family
     * @param reuse true to share the port with other claims that also allow it
     * @throws io.rdma4j.verbs.RdmaException {@code EADDRINUSE} or {@code EADDRNOTAVAIL} if it is taken
     */
    PortClaim claimPort(int portSpace, InetAddress local, boolean familyOnly, boolean reuse, int port);

    /**
     * Makes this host a member of a multicast group on the network interface of an attached address, until the claim is
     * closed. Without the lock.
     *
     * @throws io.rdma4j.verbs.RdmaException if the kernel refuses
     */
    Claim joinGroup(LocalEndpoint at, Gid group);

    /**
     * Routes connection requests to an attached address for the service ID to this process from now on. Without the
     * lock.
     */
    void registerService(InetAddress local, long serviceId);

    /** Reverts {@link #registerService}. Without the lock. */
    void unregisterService(InetAddress local, long serviceId);
}
