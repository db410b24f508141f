package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.XrcDomain;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of the connection manager, the counterpart of a TCP socket. C: {@code struct rdma_cm_id}. Thread safe.
 *
 * <p>{@link EventChannel#createId} creates an asynchronous identifier. Its calls return immediately, and their results
 * are events of the channel. {@link #create} creates a <em>synchronous</em> one. Its methods {@link #resolveAddress},
 * {@link #resolveRoute}, {@link #connect}, {@link #accept} and {@link #disconnect} wait for their event, store it in
 * {@link #event}, and throw if its status is not 0. A waiting call throws {@code EINVAL} if another thread closes the
 * identifier or moves it to a channel, and {@code EINTR} if the thread is interrupted.
 *
 * <p>Every call throws {@link RdmaException} with {@code EINVAL} if the identifier's state does not allow it. The
 * message names the state.
 */
public final class CmId implements AutoCloseable {
    private static final String SET_OPTION = "rdma_set_option";

    private final IdCore core;

    CmId(EventChannel channel, boolean synchronous, PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        core = new IdCore(this, channel, synchronous, portSpace, type, context);
    }

    /** Creates the identifier of a connection request. */
    CmId(IdCore listener, ProviderCmId child) {
        core = new IdCore(this, listener, child);
    }

    /**
     * Creates a synchronous identifier. C: {@code rdma_create_id} without a channel.
     *
     * @param portSpace the port space
     * @param context object for the application's use, stored at the identifier
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static CmId create(PortSpace portSpace, @Nullable Object context) {
        return create(portSpace, portSpace.queuePairType(), context);
    }

    /**
     * Creates a synchronous identifier for a queue pair type. In C only {@code rdma_create_ep} creates such
     * identifiers.
     *
     * <p>For an XRC connection, the connecting identifier has the type {@link QueuePairType#XRC_SEND}. The listening
     * identifier has the type {@link QueuePairType#XRC_RECEIVE}, as have the identifiers of its requests. The
     * application transfers the numbers of the shared receive queues itself, in the private data of {@link #accept}.
     *
     * @param portSpace the port space
     * @param type a type of the port space; any in {@link PortSpace#IB}
     * @param context object for the application's use, stored at the identifier
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one; {@code EINVAL} if
     *     the port space does not have the type
     */
    public static CmId create(PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        return ConnectionManager.ofProcess().createId(portSpace, type, context);
    }

    /**
     * Creates a synchronous identifier that is ready to listen or connect. C: {@code rdma_create_ep}; {@link #close} is
     * {@code rdma_destroy_ep}.
     *
     * <p>A passive endpoint is bound: the next call is {@link #listen}, and {@link #getRequest} creates a queue pair
     * with {@code attributes} for each connection. For an active endpoint, address and route are resolved, within 2
     * seconds each, and the queue pair is created: the next call is {@link #connect}.
     *
     * @param information from {@link AddressInformation#lookUp}
     * @param protectionDomain protection domain of the queue pairs; null for the device's default domain
     * @param attributes attributes of the queue pairs; null for no queue pairs
     * @throws RdmaException as {@link #bindAddress}, or {@link #resolveAddress}, {@link #resolveRoute} and {@link
     *     #createQueuePair}; {@code EINVAL} if the information lacks the address
     */
    public static CmId createEndpoint(
            AddressInformation information,
            @Nullable ProtectionDomain protectionDomain,
            @Nullable CmQueuePairAttributes attributes) {
        return EndpointCreation.create(information, protectionDomain, attributes);
    }

    /**
     * Creates a synchronous identifier that listens at a local address, and whose {@link #getRequest} creates the queue pair of
     * each connection.
     *
     * @param local an address of this host, or a wildcard; port 0 selects a free port, see {@link #sourcePort}
     * @param attributes the attributes of the connections' queue pairs
     * @throws RdmaException as {@link #bindAddress} and {@link #listen(int)}
     */
    public static CmId listen(InetSocketAddress local, CmQueuePairAttributes attributes) {
        return ConnectionManager.ofProcess().listen(local, attributes);
    }

    /**
     * Creates a synchronous identifier and connects it to a listener. Address and route are resolved within 2 seconds each. The
     * call returns when the peer has accepted.
     *
     * @param peer the address of the listener
     * @param attributes the attributes of the queue pair
     * @throws RdmaException as {@link #resolveAddress}, {@link #resolveRoute}, {@link #createQueuePair} and {@link #connect}
     */
    public static CmId connect(InetSocketAddress peer, CmQueuePairAttributes attributes) {
        return ConnectionManager.ofProcess().connect(peer, attributes, ConnectionParameters.defaults());
    }

    /**
     * Creates a synchronous identifier and connects it with parameters of the connection; see {@link
     * #connect(InetSocketAddress, CmQueuePairAttributes)}.
     *
     * @param parameters private data, depths and retries
     */
    public static CmId connect(
            InetSocketAddress peer, CmQueuePairAttributes attributes, ConnectionParameters parameters) {
        return ConnectionManager.ofProcess().connect(peer, attributes, parameters);
    }

    // ---- addresses and route

    /**
     * Binds to a local address and port. C: {@code rdma_bind_addr}.
     *
     * @param local an address of this host, or a wildcard for all addresses of the devices that the user allows ({@link
     *     io.rdma4j.verbs.DeviceChoice}); port 0 selects a free one, see {@link #sourcePort}. A link-local IPv6 address
     *     needs its scope
     * @throws RdmaException {@code EADDRNOTAVAIL} if no network interface that is up has the address, if the port is in
     *     use and one of the two addresses is a wildcard, or if no port is free; {@code ENODEV} if no device has the
     *     address; {@code EADDRINUSE} if the port is in use at the address; {@code EACCES} for a port below 1024
     *     without the privilege; {@code EINVAL} unless the identifier is idle
     */
    public void bindAddress(InetSocketAddress local) {
        core.locked("rdma_bind_addr", () -> core.binding().bind(local));
    }

    /**
     * Determines the device and local address by which a destination is reached. C: {@code rdma_resolve_addr}. Ends
     * with {@code ADDRESS_RESOLVED} or {@code ADDRESS_ERROR}.
     *
     * @param source local address to use, or null for the one that the operating system's routing selects
     * @param destination the peer; a wildcard stands for the loopback address
     * @param timeout longest duration of the resolution
     * @throws RdmaException {@code ENETUNREACH} if there is no route; {@code ENODEV} if {@code source} belongs to no
     *     device; {@code EINVAL} if the families differ; if synchronous, also the failures of the event
     */
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        core.locked("rdma_resolve_addr", () -> core.binding().resolveAddress(source, destination, timeout));
        core.complete("rdma_resolve_addr");
    }

    /**
     * Resolves the route to the destination. C: {@code rdma_resolve_route}. Ends with {@code ROUTE_RESOLVED} or {@code
     * ROUTE_ERROR}.
     *
     * @param timeout longest duration of the resolution
     */
    public void resolveRoute(Duration timeout) {
        core.locked(
                "rdma_resolve_route",
                () -> core.binding()
                        .required("rdma_resolve_route", "Resolve the address first")
                        .resolveRoute(timeout));
        core.complete("rdma_resolve_route");
    }

    /**
     * Looks up a node and a service in the background. C: {@code rdma_resolve_addrinfo}. Ends with {@code
     * ADDRESS_INFORMATION_RESOLVED} or {@code ADDRESS_INFORMATION_ERROR}. The parameters are those of {@link
     * AddressInformation#lookUp}.
     *
     * @throws RdmaException {@code EBUSY} if a lookup is in progress, or its result was not retrieved; if synchronous,
     *     also the failures of the event
     */
    public void resolveAddressInformation(
            @Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        core.lookup().start(node, service, hints);
    }

    /**
     * Returns the result of the lookup, once. C: {@code rdma_query_addrinfo}.
     *
     * @throws RdmaException {@code ENOENT} if there is no result
     */
    public AddressInformation queryAddressInformation() {
        return core.lookup().query();
    }

    // ---- queue pair

    /**
     * Creates the identifier's queue pair and moves it to the INIT state, so that receives can be posted. A datagram
     * queue pair is moved to ready-to-send. C: {@code rdma_create_qp}.
     *
     * @param protectionDomain its protection domain, of this identifier's device; null for the device's default domain
     * @param attributes sizes and completion queues; omitted completion queues are created, each with a channel
     * @return the queue pair, also returned by {@link #queuePair}
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already has a queue pair, or if the
     *     domain belongs to another device
     */
    public QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
        return core.queues().createQueuePair(protectionDomain, attributes);
    }

    /**
     * Creates the identifier's queue pair with the given completion queues, like {@link
     * #createQueuePair(ProtectionDomain, CmQueuePairAttributes)}.
     */
    public QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, QueuePairInitAttributes attributes) {
        return createQueuePair(protectionDomain, CmQueuePairAttributes.of(attributes));
    }

    /**
     * Closes the queue pair and the completion queues created with it, if any. Waits until the events of the completion
     * queues are acknowledged. C: {@code rdma_destroy_qp}.
     *
     * @throws RdmaException {@code EBUSY} if another queue pair reports to one of the completion queues; {@code EINTR}
     *     if the thread is interrupted during the wait. In both cases the queue pair is closed, and another call closes
     *     the rest
     */
    public void destroyQueuePair() {
        core.queues().destroyQueuePair();
    }

    /**
     * Creates a shared receive queue. Queue pairs of this identifier use it from now on unless their attributes name
     * another. C: {@code rdma_create_srq}. It can also be passed to queue pairs of other identifiers of the device.
     *
     * <p>The shared receive queue of an identifier of type {@link QueuePairType#XRC_RECEIVE}, or one whose attributes
     * have an XRC domain, serves XRC connections instead. If the attributes lack the domain, {@link #xrcDomain} is
     * used. If they lack the completion queue, one is created with a channel: {@link #receiveCompletions}.
     *
     * @param protectionDomain its protection domain; null for the device's default domain
     * @param attributes its attributes
     * @return the queue, also returned by {@link #sharedReceiveQueue}
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already has a shared receive queue
     */
    public SharedReceiveQueue createSharedReceiveQueue(
            @Nullable ProtectionDomain protectionDomain, SharedReceiveQueueInitAttributes attributes) {
        return core.queues().createSharedReceiveQueue(protectionDomain, attributes);
    }

    /**
     * Closes the shared receive queue, if any. C: {@code rdma_destroy_srq}.
     *
     * @throws RdmaException {@code EBUSY} while queue pairs use it
     */
    public void destroySharedReceiveQueue() {
        core.queues().destroySharedReceiveQueue();
    }

    /**
     * Returns the attributes that move a queue pair of the application to the given state. C: {@code
     * rdma_init_qp_attr}.
     *
     * @param target INIT, READY_TO_RECEIVE or READY_TO_SEND
     * @throws RdmaException {@code EINVAL} if the identifier has no device, or for the ready states before the peer's
     *     message has arrived
     */
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        return core.binding()
                .required("rdma_init_qp_attr", IdCore.RESOLVE_FIRST)
                .initQueuePairAttributes(target);
    }

    // ---- connection

    /**
     * Starts listening for connection requests, each of which is a {@code CONNECT_REQUEST} event. C: {@code
     * rdma_listen}. An unbound identifier is bound to all IPv4 addresses and a free port.
     *
     * @param backlog number of requests that may be pending; 0, less, or more than 1024 stands for 1024. Further
     *     requests are not answered, so the peer repeats them
     */
    public void listen(int backlog) {
        core.locked("rdma_listen", () -> core.binding().listen(backlog));
    }

    /**
     * Waits for the next connection request of a synchronous listener. C: {@code rdma_get_request}.
     *
     * @return the identifier of the new connection, which is synchronous too and has the request as its {@link #event}.
     *     The identifier of an endpoint's request ({@link #createEndpoint}) has a queue pair
     * @throws RdmaException {@code EINVAL} if the identifier is not synchronous, or is closed or migrated during the
     *     wait; {@code EINTR} if the thread was interrupted; otherwise the status of another event that arrived instead
     */
    public CmId getRequest() {
        return core.getRequest();
    }

    /**
     * Sends a connection request to the peer. C: {@code rdma_connect}. Ends with {@code ESTABLISHED} (or {@code
     * CONNECT_RESPONSE} without a queue pair of the identifier), {@code REJECTED}, {@code UNREACHABLE} or {@code
     * CONNECT_ERROR}.
     *
     * @param parameters parameters for the peer; null stands for {@link ConnectionParameters#defaults}, and requires a
     *     queue pair
     * @throws RdmaException {@code EINVAL} if the route is not resolved, a depth exceeds the device's, or the private
     *     data exceed {@link ConnectionParameters#REQUEST_PRIVATE_DATA}; if synchronous, also {@code ECONNREFUSED} if
     *     the peer rejects, and {@code ETIMEDOUT} if the peer does not reply
     */
    public void connect(@Nullable ConnectionParameters parameters) {
        core.connection().connect(parameters);
    }

    /**
     * Accepts a connection request: moves the queue pair to ready-to-send and sends the reply. C: {@code rdma_accept}.
     * Ends with {@code ESTABLISHED}, {@code UNREACHABLE} or {@code REJECTED}. Data may arrive before {@code
     * ESTABLISHED}.
     *
     * @param parameters parameters for the peer; null, and a depth of {@link ConnectionParameters#DEVICE_MAXIMUM},
     *     stand for what the peer requested, limited to the device's maximum. Must not be null without a queue pair of
     *     the identifier
     * @throws RdmaException {@code EINVAL} if there is no request, a depth exceeds the device's, or the private data
     *     exceed {@link ConnectionParameters#REPLY_PRIVATE_DATA}. If synchronous, also {@code ECONNREFUSED} if the peer
     *     withdraws its request, {@code ECONNRESET} if the peer disconnects before the connection is established, and
     *     {@code ETIMEDOUT} if the peer does not reply
     */
    public void accept(@Nullable ConnectionParameters parameters) {
        core.connection().accept(parameters);
    }

    /**
     * Waits until the peer disconnects, or the connection ends in another way. Only for a synchronous identifier. C: {@code
     * rdma_get_cm_event} on the channel of the identifier.
     *
     * @throws RdmaException if another event than DISCONNECTED arrives; {@code EINVAL} if the identifier reports to an event
     *     channel, or is closed during the wait; {@code EINTR} if the thread is interrupted
     */
    public void awaitDisconnect() {
        core.awaitDisconnect();
    }

    /**
     * Returns the private data of the peer's connection request or acceptance; empty before either arrives. It is the whole field
     * of the message, so zeros follow the peer's bytes.
     */
    public byte[] peerPrivateData() {
        return core.connection().peerPrivateData();
    }

    /**
     * Rejects a connection request, or the peer's acceptance. C: {@code rdma_reject}. The peer receives {@code
     * REJECTED} with reason 28.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void reject(byte[] privateData) {
        core.connection().reject(privateData, false);
    }

    /**
     * Rejects a connection because of the peer's {@link #remoteEnhancement}. C: {@code rdma_reject_ece}. The peer
     * receives {@code REJECTED} with reason 35. A datagram service is rejected as by {@link #reject}.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void rejectEnhancement(byte[] privateData) {
        core.connection().reject(privateData, true);
    }

    /**
     * Sets the connection enhancement options that {@link #connect} requests or {@link #accept} replies with, for a
     * queue pair that does not belong to the identifier. A reply is sent with the vendor of the request. C: {@code
     * rdma_set_local_ece}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair, or the vendor is 0
     */
    public void setLocalEnhancement(ConnectionEnhancement enhancement) {
        core.connection().localEnhancement(enhancement);
    }

    /**
     * Returns the connection enhancement options of the peer's request or reply, for a queue pair that does not belong
     * to the identifier. C: {@code rdma_get_remote_ece}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair
     */
    public ConnectionEnhancement remoteEnhancement() {
        return core.connection().remoteEnhancement();
    }

    /**
     * Confirms the peer's acceptance after {@code CONNECT_RESPONSE}, when the application's queue pair is ready to
     * send. For the active side without a queue pair of the identifier. C: {@code rdma_establish}. No local event
     * follows.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair, because taking the event has already
     *     confirmed it
     */
    public void establish() {
        core.connection().establish();
    }

    /**
     * Reports that data arrived on the queue pair of a connection that waits for the peer's confirmation. This
     * establishes the connection. C: {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}.
     *
     * @throws RdmaException {@code EISCONN} if the connection is already established, which may be ignored
     */
    public void notifyCommunicationEstablished() {
        core.locked(
                "rdma_notify",
                () -> core.binding()
                        .required("rdma_notify", IdCore.RESOLVE_FIRST)
                        .notifyCommunicationEstablished());
    }

    /**
     * Disconnects, or replies to the peer's disconnect request. The queue pair moves to the error state, and its posted
     * work requests are flushed. C: {@code rdma_disconnect}. Both sides receive one {@code DISCONNECTED}, and later
     * {@code TIMEWAIT_EXIT}.
     *
     * @throws RdmaException {@code EINVAL} if there never was a connection; if synchronous, also if the peer rejected
     *     it, if it is not established yet, or if it has ended
     */
    public void disconnect() {
        core.connection().disconnect();
    }

    // ---- multicast

    /**
     * Joins a multicast group with full membership, like {@link #joinMulticast(MulticastJoinAttributes, Object)}. C:
     * {@code rdma_join_multicast}.
     *
     * @param group a multicast address
     * @param context object for the application's use, returned by {@link CmEvent#multicastContext}
     */
    public void joinMulticast(InetAddress group, @Nullable Object context) {
        core.memberships().join("rdma_join_multicast", MulticastJoinAttributes.of(group), context);
    }

    /**
     * Joins a multicast group. C: {@code rdma_join_multicast_ex}. Ends with {@code MULTICAST_JOIN}, whose {@link
     * CmEvent#datagram} holds the parameters for sending to the group, or with {@code MULTICAST_ERROR}.
     *
     * <p>Taking the event attaches the identifier's queue pair to the group, unless the identifier joins to send only.
     * The queue pair then receives the datagrams sent to the group, including those of this host and its own. Several
     * identifiers and several processes may join the same group. Closing the identifier leaves its groups.
     *
     * @param attributes the group and the type of membership
     * @param context object for the application's use, returned by {@link CmEvent#multicastContext}
     * @throws RdmaException {@code EINVAL} unless the identifier is of a datagram service, has a device and is bound or
     *     has its address resolved; {@code EINVAL} for a wildcard, which on RoCE names no group, and for a group of
     *     another address family; {@code EADDRINUSE} if a socket of this host exclusively binds UDP port 4791 of the
     *     group; if synchronous, also the failures of the event
     */
    public void joinMulticast(MulticastJoinAttributes attributes, @Nullable Object context) {
        core.memberships().join("rdma_join_multicast_ex", attributes, context);
    }

    /**
     * Leaves a multicast group that was joined by its address, and detaches the queue pair. Waits until the events of
     * the group that were taken are acknowledged. C: {@code rdma_leave_multicast}.
     *
     * @throws RdmaException {@code EADDRNOTAVAIL} if the identifier has not joined the group; {@code EINTR} if the
     *     thread was interrupted during the wait: the group has been left
     */
    public void leaveMulticast(InetAddress group) {
        core.memberships().leave(MulticastJoinAttributes.of(group));
    }

    /** Leaves a multicast group that was joined by its GID, like {@link #leaveMulticast(InetAddress)}. */
    public void leaveMulticast(Gid group) {
        core.memberships().leave(MulticastJoinAttributes.unmapped(group));
    }

    // ---- options

    /**
     * Sets the IPv4 type of service or IPv6 traffic class of the connection's packets. C: {@code rdma_set_option} with
     * {@code RDMA_OPTION_ID_TOS}.
     *
     * @param typeOfService 0 to 255
     * @throws RdmaException {@code EINVAL} if the value is out of range
     */
    public void setTypeOfService(int typeOfService) {
        IdCore.requireRange(SET_OPTION, "type of service", typeOfService, 255);
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setTypeOfService(typeOfService)));
    }

    /**
     * Sets whether the port may be bound by several identifiers that all allow it. None of them can listen while there
     * are others. C: {@code RDMA_OPTION_ID_REUSEADDR}. May be set at any time, but cleared only while idle.
     */
    public void setReuseAddress(boolean reuseAddress) {
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setReuseAddress(reuseAddress)));
    }

    /**
     * Sets whether an IPv6 wildcard excludes IPv4. Otherwise a listener on {@code ::} accepts IPv4 too. C: {@code
     * RDMA_OPTION_ID_AFONLY}. Must be set before listening.
     */
    public void setIpv6Only(boolean ipv6Only) {
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setIpv6Only(ipv6Only)));
    }

    /**
     * Sets the filter that decides which peers may connect to this listener. Without a filter every peer may. There is
     * no counterpart in C. The filter may be set and changed at any time, and applies to requests that arrive
     * afterwards. Set before {@link #listen}, it applies to all requests.
     *
     * @param filter called for each request
     */
    public void setAccessFilter(AccessFilter filter) {
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setAccessFilter(filter)));
    }

    /**
     * Sets the acknowledgement timeout of the connection, 4.096 µs × 2<sup>n</sup>. The default exponent is 19 (2.1 s).
     * C: {@code RDMA_OPTION_ID_ACK_TIMEOUT}. Must be set before connecting to have an effect.
     *
     * @param exponent 0 to 31; 0 waits indefinitely
     * @throws RdmaException {@code EINVAL} if the value is out of range
     */
    public void setAckTimeout(int exponent) {
        IdCore.requireRange(SET_OPTION, "acknowledgement timeout exponent", exponent, 31);
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setAckTimeout(exponent)));
    }

    /**
     * Sets the path instead of resolving the route. C: {@code RDMA_OPTION_IB_PATH}. Ends with {@code ROUTE_RESOLVED}. A
     * synchronous identifier does not wait for that event: it is stored in {@link #event} by the next call that waits.
     *
     * @throws RdmaException {@code EINVAL} unless the address is resolved and the route is not, or if the path MTU
     *     exceeds the device's
     */
    public void setPath(RoutePath path) {
        core.locked(
                SET_OPTION,
                () -> core.binding()
                        .required(SET_OPTION, "Resolve the address first")
                        .setPath(path));
    }

    // ---- events

    /**
     * Adds an application event to the channel. C: {@code rdma_write_cm_event}.
     *
     * @param type {@link CmEvent.Type#USER}; no other type can be written
     * @param status any number, for {@link CmEvent#status}
     * @param argument any number, for {@link CmEvent#argument}
     * @throws RdmaException {@code EINVAL} for another type
     */
    public void writeEvent(CmEvent.Type type, int status, long argument) {
        String operation = "rdma_write_cm_event";
        if (type != CmEvent.Type.USER) {
            throw IdCore.invalid(operation, "an event of type " + type + " cannot be written", "Write USER events");
        }
        core.locked(operation, () -> core.sink().onEvent(ProviderEvent.written(type, status, argument)));
    }

    /**
     * Moves the identifier and its events to another channel. Waits until the events already taken are acknowledged. C:
     * {@code rdma_migrate_id}.
     *
     * <p>A listener's pending requests move too. The call does not wait for events that the calling thread itself took.
     *
     * @param target the channel, or null to make the identifier synchronous
     * @throws RdmaException {@code EINVAL} if {@code target} is null and the identifier is already synchronous, or the
     *     identifier or {@code target} is closed; {@code EINTR} if the thread was interrupted during the wait: the
     *     identifier has moved
     */
    public void migrate(@Nullable EventChannel target) {
        core.migrate(target);
    }

    // ---- properties

    /** Returns the local address and port, or null while not bound. C: {@code rdma_get_local_addr}. */
    public @Nullable InetSocketAddress localAddress() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? null : provider.localAddress();
    }

    /** Returns the peer's address and port, or null while not known. C: {@code rdma_get_peer_addr}. */
    public @Nullable InetSocketAddress peerAddress() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? null : provider.peerAddress();
    }

    /** Returns the local port, 0 while not bound. C: {@code rdma_get_src_port}. */
    public int sourcePort() {
        InetSocketAddress local = localAddress();
        return local == null ? 0 : local.getPort();
    }

    /** Returns the peer's port, 0 while not known. C: {@code rdma_get_dst_port}. */
    public int destinationPort() {
        InetSocketAddress peer = peerAddress();
        return peer == null ? 0 : peer.getPort();
    }

    /** Returns the port space. */
    public PortSpace portSpace() {
        return core.portSpace();
    }

    /** Returns the type of its queue pairs. C: {@code qp_type}. */
    public QueuePairType queuePairType() {
        return core.queuePairType();
    }

    /**
     * Returns whether the identifier has a device. It has one after binding to an address other than a wildcard, or
     * resolving an address.
     */
    public boolean hasDevice() {
        ProviderCmId provider = core.binding().first();
        return provider != null && provider.device() != null;
    }

    /**
     * Returns the open device, which stays open as long as the device exists. If its interface is removed and another
     * one gets the name, the old device is closed once no identifier uses it, with everything created from it. It is
     * not closed if {@link CmDevices#list} has returned it. C: {@code id->verbs}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device, see {@link #hasDevice}
     */
    public DeviceContext verbs() {
        return core.deviceUse("rdma_cm_id.verbs").context();
    }

    /** Returns the device's port, from 1; 0 while the identifier has no device. */
    public int portNumber() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? 0 : provider.portNumber();
    }

    /** Returns the identifier's queue pair, or null. */
    public @Nullable QueuePair queuePair() {
        IdQueuePair current = core.queuePair();
        return current == null ? null : current.queuePair();
    }

    /** Returns the identifier's shared receive queue, or null. C: {@code id->srq}. */
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return core.queues().sharedReceiveQueue();
    }

    /**
     * Returns the queue pair's protection domain, else the device's default domain, which exists as long as any
     * identifier uses it. C: {@code id->pd}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public ProtectionDomain protectionDomain() {
        IdQueuePair current = core.queuePair();
        return current == null
                ? core.deviceUse("rdma_cm_id.pd").defaultDomain()
                : current.queuePair().protectionDomain();
    }

    /**
     * Returns the device's default XRC domain, created on first use. It exists as long as any identifier uses the
     * device. Its target queue pairs and shared receive queues may belong to several identifiers.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public XrcDomain xrcDomain() {
        return core.deviceUse("ibv_open_xrcd").defaultXrcDomain();
    }

    /** Returns the completion queue of the queue pair's send work requests, or null without a queue pair. */
    public @Nullable CompletionQueue sendCompletions() {
        IdQueuePair current = core.queuePair();
        return current == null ? null : current.queuePair().sendCompletions();
    }

    /**
     * Returns the completion queue of receives, or null. It is that of the XRC shared receive queue if there is one,
     * else that of the queue pair.
     */
    public @Nullable CompletionQueue receiveCompletions() {
        return core.queues().receiveCompletions();
    }

    /** Returns the channel created for {@link #sendCompletions}, or null if the application provided the queue. */
    public @Nullable CompletionChannel sendCompletionChannel() {
        IdQueuePair current = core.queuePair();
        return current == null ? null : current.sendChannel();
    }

    /** Returns the channel created for {@link #receiveCompletions}, or null if the application provided the queue. */
    public @Nullable CompletionChannel receiveCompletionChannel() {
        return core.queues().receiveChannel();
    }

    /** Returns the channel of its events, or null if the identifier is synchronous. */
    public @Nullable EventChannel channel() {
        return core.isSynchronous() ? null : core.channel();
    }

    /** Returns the application's context object. */
    public @Nullable Object context() {
        return core.context;
    }

    /** Sets the application's context object. */
    public void setContext(@Nullable Object value) {
        core.context = value;
    }

    /**
     * Returns the event of the last call of a synchronous identifier that waited for one, until the next such call;
     * else null.
     */
    public @Nullable CmEvent event() {
        return core.event();
    }

    /**
     * Closes the identifier with its queue pair, and with its shared receive queue unless another queue pair uses that.
     * C: {@code rdma_destroy_id}. The peer is notified as the state requires: an unanswered request is rejected, an
     * established connection disconnected. A thread that waits in a call of a synchronous identifier receives {@code
     * EINVAL}.
     *
     * <p>Waits until all events of the identifier and of its completion queues are acknowledged. It does not wait for
     * events of the identifier that the calling thread itself took, so a thread may close the identifier while it
     * handles one. Concurrent calls of other threads are refused. If the thread is interrupted, the wait ends and its
     * interrupt status stays set. Closing again has no effect, or closes the completion queues that could not be closed
     * before.
     *
     * @throws RdmaException {@code EBUSY} if a queue pair or shared receive queue of another identifier reports to a
     *     completion queue of this one; {@code EINTR} if the thread is interrupted while it waits for an event of a
     *     completion queue. In both cases everything but these completion queues is closed, the port is free, and
     *     another call closes them
     */
    @Override
    public void close() {
        core.close();
    }

    @Override
    public String toString() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? "an idle identifier" : provider.describe();
    }

    // ---- for the channel

    IdCore core() {
        return core;
    }
}
