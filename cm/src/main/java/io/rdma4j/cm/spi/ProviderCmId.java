package io.rdma4j.cm.spi;

import io.rdma4j.cm.AccessFilter;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One identifier of a provider: what {@code rdma_cm_id} is in the kernel. Its methods throw {@link
 * io.rdma4j.verbs.RdmaException} at once, with {@code EINVAL} in a wrong state, and never wait for the network or for
 * the application; results come to the {@link CmEventSink}. Thread safe.
 */
public interface ProviderCmId {
    /**
     * Binds to a local address; see {@link io.rdma4j.cm.CmId#bindAddress}. A wildcard stands for the addresses of the devices
     * that the user allows: {@link io.rdma4j.verbs.DeviceChoice}.
     */
    void bind(InetSocketAddress local);

    /** Starts address resolution; see {@link io.rdma4j.cm.CmId#resolveAddress}. */
    void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout);

    /** Starts route resolution; see {@link io.rdma4j.cm.CmId#resolveRoute}. */
    void resolveRoute(Duration timeout);

    /** Takes requests; see {@link io.rdma4j.cm.CmId#listen}. */
    void listen(int backlog);

    /**
     * Sends a connection request.
     *
     * @param parameters with the depths as they are to go on the wire and the number of the queue pair
     */
    void connect(ConnectionParameters parameters);

    /**
     * Accepts a connection request: sends the reply.
     *
     * @param parameters with the depths as they are to go on the wire and the number of the queue pair
     */
    void accept(ConnectionParameters parameters);

    /** Confirms the peer's reply: sends the ready-to-use message. */
    void establish();

    /**
     * Rejects a connection request, or the peer's reply.
     *
     * @param privateData at most 148 bytes
     * @param becauseOfEnhancement whether the connection enhancement options are the reason
     */
    void reject(byte[] privateData, boolean becauseOfEnhancement);

    /** Disconnects, or answers the peer's disconnection. Does nothing, as in Linux, where {@link #isConnected} is false. */
    void disconnect();

    /**
     * Whether {@link #disconnect} has something to end: the connection is established or being ended, or in time-wait. Then
     * an event {@code DISCONNECTED} or {@code TIMEWAIT_EXIT} follows, or has been reported since this call.
     */
    boolean isConnected();

    /** Data arrived on the queue pair of a connection that is not established yet. */
    void notifyCommunicationEstablished();

    /**
     * Joins a multicast group; the result is an event {@code MULTICAST_JOIN} or {@code MULTICAST_ERROR}; see {@link
     * io.rdma4j.cm.CmId#joinMulticast(io.rdma4j.cm.MulticastJoinAttributes, Object)}.
     *
     * @param attributes which group, and how
     * @param membership names this join in its event and in {@link #leaveMulticast}
     */
    void joinMulticast(MulticastJoinAttributes attributes, Object membership);

    /** Leaves a group that was joined as {@code membership}. */
    void leaveMulticast(Object membership);

    /** Takes a path of the application's for the route, and reports it as resolved. */
    void setPath(RoutePath path);

    /** Sets the IPv4 type of service or IPv6 traffic class, 0 to 255. */
    void setTypeOfService(int typeOfService);

    /** Sets whether the port may be shared with other identifiers that allow it too. */
    void setReuseAddress(boolean reuseAddress);

    /** Sets whether an IPv6 wildcard leaves IPv4 alone. */
    void setIpv6Only(boolean ipv6Only);

    /** Sets who may connect; see {@link io.rdma4j.cm.CmId#setAccessFilter}. */
    void setAccessFilter(AccessFilter filter);

    /** Sets the acknowledgement time-out of the queue pair, an exponent 0 to 31. */
    void setAckTimeout(int exponent);

    /** Sets the connection enhancement options of the request or reply that is to come. */
    void setLocalEnhancement(ConnectionEnhancement enhancement);

    /** The attributes with which a queue pair goes to a state; see {@link io.rdma4j.cm.CmId#initQueuePairAttributes}. */
    QueuePairAttributes initQueuePairAttributes(QueuePairState target);

    /** The device, or null while none is chosen. */
    @Nullable
    Device device();

    /** Port of the device, from 1; 0 while none is chosen. */
    int portNumber();

    /** Local address and port, or null while not bound. */
    @Nullable
    InetSocketAddress localAddress();

    /** Peer's address and port, or null while not known. */
    @Nullable
    InetSocketAddress peerAddress();

    /** The application has taken the connection request of this child: it no longer fills the listener's backlog. */
    void requestTaken();

    /** A line about addresses, device and GID, for messages. */
    String describe();

    /** Gives the identifier up, telling the peer if there is one. When it returns the sink is not called any more. */
    void close();
}
