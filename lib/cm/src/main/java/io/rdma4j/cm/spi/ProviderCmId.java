package io.rdma4j.cm.spi;

import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.QueuePairAttributes;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of a provider, the counterpart of the kernel's {@code rdma_cm_id}. Its methods throw
 * {@link io.rdma4j.verbs.RdmaException} immediately, with {@code EINVAL} in a wrong state. They never wait for the
 * network or the application, and pass results to the {@link CmEventSink}. Thread safe.
 */
public interface ProviderCmId {
    /**
     * Binds to a local address; see {@link io.rdma4j.cm.CmId#bindAddress}. A wildcard means the addresses of the
     * devices that the user allows: {@link io.rdma4j.verbs.spi.DeviceChoice}.
     */
    void bind(InetSocketAddress local);

    /**
     * Starts address resolution; see {@link io.rdma4j.cm.CmId#resolveAddress}.
     *
     * @param source the local address to bind to, or null if any address is suitable
     * @param destination the peer, not a wildcard
     * @param routeSource the local address from which the host sends to the destination, if the caller has looked it up
     *     to choose this provider; null if the provider must look it up
     * @param timeout maximum duration of the resolution
     */
    void resolveAddress(
            @Nullable InetSocketAddress source,
            InetSocketAddress destination,
            @Nullable InetAddress routeSource,
            Duration timeout);

    /** Starts route resolution; see {@link io.rdma4j.cm.CmId#resolveRoute}. */
    void resolveRoute(Duration timeout);

    /** Starts listening for connection requests; see {@link io.rdma4j.cm.CmId#listen}. */
    void listen(int backlog);

    /**
     * Sends a connection request.
     *
     * @param parameters the parameters, with the depths and the queue pair number to send on the wire
     */
    void connect(ConnectionParameters parameters);

    /**
     * Accepts a connection request by sending the reply.
     *
     * @param parameters the parameters, with the depths and the queue pair number to send on the wire
     */
    void accept(ConnectionParameters parameters);

    /** Confirms the peer's reply by sending the ready-to-use message. */
    void establish();

    /**
     * Rejects a connection request, or the peer's reply.
     *
     * @param privateData at most 148 bytes
     * @param becauseOfEnhancement true if the reason is the connection enhancement options
     */
    void reject(byte[] privateData, boolean becauseOfEnhancement);

    /**
     * Disconnects, or replies to the peer's disconnect request. Like in Linux, this has no effect if
     * {@link #isConnected} is false.
     */
    void disconnect();

    /**
     * Returns whether {@link #disconnect} has an effect: the connection is established, is being disconnected, or is in
     * time-wait. If true, an event {@code DISCONNECTED} or {@code TIMEWAIT_EXIT} follows, or has been reported since
     * this call.
     */
    boolean isConnected();

    /** Reports that data arrived on the queue pair of a connection that is not yet established. */
    void notifyCommunicationEstablished();

    /**
     * Joins a multicast group. The result is an event {@code MULTICAST_JOIN} or {@code MULTICAST_ERROR}; see {@link
     * io.rdma4j.cm.CmId#joinMulticast(io.rdma4j.cm.MulticastJoinAttributes, Object)}.
     *
     * @param attributes the group and the type of membership
     * @param membership identifies this join in its event and in {@link #leaveMulticast}
     */
    void joinMulticast(MulticastJoinAttributes attributes, Object membership);

    /** Leaves the group that was joined with {@code membership}. */
    void leaveMulticast(Object membership);

    /** Sets the route to a path chosen by the application, and reports the route as resolved. */
    void setPath(RoutePath path);

    /** Sets the IPv4 type of service or IPv6 traffic class, 0 to 255. */
    void setTypeOfService(int typeOfService);

    /** Sets whether the port may be shared with other identifiers that also allow it. */
    void setReuseAddress(boolean reuseAddress);

    /** Sets whether an IPv6 wildcard excludes IPv4. */
    void setIpv6Only(boolean ipv6Only);

    /** Sets the filter that decides which peers may connect; see {@link io.rdma4j.cm.CmId#setAccessFilter}. */
    void setAccessFilter(Predicate<ConnectionAttempt> filter);

    /** Sets the acknowledgement timeout of the queue pair, an exponent 0 to 31. */
    void setAckTimeout(int exponent);

    /** Sets the connection enhancement options of the next request or reply. */
    void setLocalEnhancement(ConnectionEnhancement enhancement);

    /**
     * Returns the attributes that move a queue pair to a state; see {@link io.rdma4j.cm.CmId#initQueuePairAttributes}.
     */
    QueuePairAttributes initQueuePairAttributes(QueuePairState target);

    /** Returns the device, or null while none is selected. */
    @Nullable
    Device device();

    /** Returns the port of the device, from 1; 0 while no device is selected. */
    int portNumber();

    /** Returns the local address and port, or null while not bound. */
    @Nullable
    InetSocketAddress localAddress();

    /** Returns the peer's address and port, or null while unknown. */
    @Nullable
    InetSocketAddress peerAddress();

    /** Returns the path of the resolved route or of the peer's request; null before either exists. */
    @Nullable
    RoutePath path();

    /**
     * Called when the application has taken the connection request of this child. The request then no longer counts
     * towards the listener's backlog.
     */
    void onRequestTaken();

    /** Returns one line with addresses, device and GID, for messages. */
    String describe();

    /**
     * Closes the identifier and notifies the peer, if any. The sink is not called after this method returns.
     */
    void close();
}
