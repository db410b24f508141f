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
 * An identifier of the connection manager: what a socket is to TCP. C: {@code struct rdma_cm_id}. Thread safe.
 *
 * <p>It is made by {@link EventChannel#createId}, and then its calls return at once and their results are events of the
 * channel; or by {@link #create}, and then it is <em>synchronous</em>: {@link #resolveAddress}, {@link #resolveRoute},
 * {@link #connect}, {@link #accept} and {@link #disconnect} wait for their event, leave it in {@link #event}, and throw
 * if its status is not 0. They throw {@code EINVAL} when another thread closes the identifier or moves it to a channel, and
 * {@code EINTR} when the thread is interrupted.
 *
 * <p>Every call throws {@link RdmaException} with {@code EINVAL} if the identifier's state does not allow it; its message
 * names the state.
 */
public final class CmId implements AutoCloseable {
    private static final String SET_OPTION = "rdma_set_option";

    private final IdCore core;

    CmId(EventChannel channel, boolean synchronous, PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        core = new IdCore(this, channel, synchronous, portSpace, type, context);
    }

    /** The identifier of a connection request. */
    CmId(IdCore listener, ProviderCmId child) {
        core = new IdCore(this, listener, child);
    }

    /**
     * Makes a synchronous identifier. C: {@code rdma_create_id} without a channel.
     *
     * @param portSpace the kind of service
     * @param context anything that the application wants to find again
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static CmId create(PortSpace portSpace, @Nullable Object context) {
        return create(portSpace, portSpace.queuePairType(), context);
    }

    /**
     * Makes a synchronous identifier for a type of queue pair. In C only {@code rdma_create_ep} makes such identifiers.
     *
     * <p>Of an extended connection the identifier that connects is of the type {@link QueuePairType#XRC_SEND}, and the one
     * that listens is of the type {@link QueuePairType#XRC_RECEIVE}: so are those that its requests come with. The numbers
     * of the shared receive queues are for the application to tell, in the private data of {@link #accept}.
     *
     * @param type a type of the port space; any in {@link PortSpace#IB}
     * @throws RdmaException also {@code EINVAL} for another type
     */
    public static CmId create(PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        return ConnectionManager.ofProcess().createId(portSpace, type, context);
    }

    /**
     * Makes a synchronous identifier that is ready for the next step. C: {@code rdma_create_ep}; {@link #close} is {@code
     * rdma_destroy_ep}.
     *
     * <p>A passive one is bound: {@link #listen} is next, and {@link #getRequest} gives each connection a queue pair of
     * {@code attributes}. An active one has its address and route resolved, within 2 seconds each, and its queue pair
     * made: {@link #connect} is next.
     *
     * @param information from {@link AddressInformation#lookUp}
     * @param protectionDomain domain of the queue pairs; null for the device's default domain
     * @param attributes what queue pairs are made of; null for none
     * @throws RdmaException as {@link #bindAddress}, or {@link #resolveAddress}, {@link #resolveRoute} and {@link
     *     #createQueuePair}; {@code EINVAL} if the information lacks the address
     */
    public static CmId createEndpoint(
            AddressInformation information,
            @Nullable ProtectionDomain protectionDomain,
            @Nullable CmQueuePairAttributes attributes) {
        return EndpointCreation.create(information, protectionDomain, attributes);
    }

    // ---- addresses and route

    /**
     * Binds to a local address and port. C: {@code rdma_bind_addr}.
     *
     * @param local an address of this host, or a wildcard for all those of the devices that the user allows ({@link
     *     io.rdma4j.verbs.DeviceChoice}); port 0 takes a free one, see {@link #sourcePort}. A
     *     link-local IPv6 address needs its scope
     * @throws RdmaException {@code EADDRNOTAVAIL} if no network interface that is up has the address, if the port is taken
     *     and one of the two addresses is a wildcard, or if no port is free; {@code ENODEV} if no device has the address;
     *     {@code EADDRINUSE} if the port is taken at it;
     *     {@code EACCES} for a port below 1024 without the privilege; {@code EINVAL} unless the identifier is idle
     */
    public void bindAddress(InetSocketAddress local) {
        core.locked("rdma_bind_addr", () -> core.binding().bind(local));
    }

    /**
     * Finds out which device and which address of this host lead to a destination. C: {@code rdma_resolve_addr}. Ends with
     * {@code ADDRESS_RESOLVED} or {@code ADDRESS_ERROR}.
     *
     * @param source local address to use, or null for the one that the operating system's routing chooses
     * @param destination the peer; a wildcard stands for the loopback address
     * @param timeout how long it may take
     * @throws RdmaException {@code ENETUNREACH} if there is no route; {@code ENODEV} if {@code source} belongs to no
     *     device; {@code EINVAL} if the families differ; synchronous also the failures of the event
     */
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        core.locked("rdma_resolve_addr", () -> core.binding().resolveAddress(source, destination, timeout));
        core.complete("rdma_resolve_addr");
    }

    /**
     * Finds the route to the destination. C: {@code rdma_resolve_route}. Ends with {@code ROUTE_RESOLVED} or {@code
     * ROUTE_ERROR}.
     *
     * @param timeout how long it may take
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
     * Looks a node and a service up without waiting for the resolver. C: {@code rdma_resolve_addrinfo}. Ends with {@code
     * ADDRESS_INFORMATION_RESOLVED} or {@code ADDRESS_INFORMATION_ERROR}; parameters as of {@link
     * AddressInformation#lookUp}.
     *
     * @throws RdmaException {@code EBUSY} if the result of an earlier look-up was not taken; synchronous also the failures
     *     of the event
     */
    public void resolveAddressInformation(
            @Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        core.lookup().start(node, service, hints);
    }

    /**
     * Takes what was looked up, once. C: {@code rdma_query_addrinfo}.
     *
     * @throws RdmaException {@code ENOENT} if there is nothing
     */
    public AddressInformation queryAddressInformation() {
        return core.lookup().query();
    }

    // ---- queue pair

    /**
     * Makes the identifier's queue pair and takes it to the INIT state, so that receives can be posted. C: {@code
     * rdma_create_qp}.
     *
     * @param protectionDomain its domain, of this identifier's device; null for the device's default domain
     * @param attributes sizes and completion queues; queues left out are made, each with a channel
     * @return the queue pair, also at {@link #queuePair}
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already a queue pair, or the domain is
     *     one of another device
     */
    public QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
        return core.queues().createQueuePair(protectionDomain, attributes);
    }

    /** {@link #createQueuePair(ProtectionDomain, CmQueuePairAttributes)} with given completion queues. */
    public QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, QueuePairInitAttributes attributes) {
        return createQueuePair(protectionDomain, CmQueuePairAttributes.of(attributes));
    }

    /**
     * Closes the queue pair and the completion queues made with it, if there are any; waits until the events of the
     * completion queues are acknowledged. C: {@code rdma_destroy_qp}.
     *
     * @throws RdmaException {@code EBUSY} if another queue pair reports to one of the completion queues, {@code EINTR} if
     *     the thread is interrupted while it waits: the queue pair is closed, and another call closes the rest
     */
    public void destroyQueuePair() {
        core.queues().destroyQueuePair();
    }

    /**
     * Makes a shared receive queue, which queue pairs of this identifier use from now on unless their attributes name
     * another. C: {@code rdma_create_srq}. It can also be given to queue pairs of other identifiers of the device.
     *
     * <p>That of an identifier of the type {@link QueuePairType#XRC_RECEIVE}, and one whose attributes have a domain of
     * extended connections, serves those instead. Where the attributes lack the domain it is {@link #xrcDomain}; where they
     * lack the completion queue one is made, with a channel: {@link #receiveCompletions}.
     *
     * @param protectionDomain its domain; null for the device's default domain
     * @return the queue, also at {@link #sharedReceiveQueue}
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already a shared receive queue
     */
    public SharedReceiveQueue createSharedReceiveQueue(
            @Nullable ProtectionDomain protectionDomain, SharedReceiveQueueInitAttributes attributes) {
        return core.queues().createSharedReceiveQueue(protectionDomain, attributes);
    }

    /**
     * Closes the shared receive queue, if there is one. C: {@code rdma_destroy_srq}.
     *
     * @throws RdmaException {@code EBUSY} while queue pairs use it
     */
    public void destroySharedReceiveQueue() {
        core.queues().destroySharedReceiveQueue();
    }

    /**
     * The attributes with which a queue pair of the application's own goes to the next state. C: {@code
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
     * Takes connection requests: each is a {@code CONNECT_REQUEST} event. C: {@code rdma_listen}. An identifier that is
     * not bound is bound to all IPv4 addresses and a free port.
     *
     * @param backlog requests that may wait to be taken; 0, less, or more than 1024 stands for 1024. Requests beyond are
     *     not answered, so that the peer asks again
     */
    public void listen(int backlog) {
        core.locked("rdma_listen", () -> core.binding().listen(backlog));
    }

    /**
     * Takes the next connection request of a synchronous listener; waits for it. C: {@code rdma_get_request}.
     *
     * @return the identifier of the new connection, synchronous too, with the request as its {@link #event};
     *     of an endpoint ({@link #createEndpoint}) with a queue pair
     * @throws RdmaException {@code EINVAL} if the identifier is not synchronous, or is closed or migrated while the thread
     *     waits; {@code EINTR} if the thread was interrupted, else the status of the event that came instead
     */
    public CmId getRequest() {
        return core.getRequest();
    }

    /**
     * Asks the peer for a connection. C: {@code rdma_connect}. Ends with {@code ESTABLISHED} (or {@code CONNECT_RESPONSE}
     * without a queue pair of the identifier), {@code REJECTED}, {@code UNREACHABLE} or {@code CONNECT_ERROR}.
     *
     * @param parameters what to say; null stands for {@link ConnectionParameters#defaults}, and needs a queue pair
     * @throws RdmaException {@code EINVAL} if the route is not resolved, a depth is more than the device's, or the private
     *     data are longer than {@link ConnectionParameters#REQUEST_PRIVATE_DATA}; synchronous also {@code ECONNREFUSED} if
     *     the peer rejects, and {@code ETIMEDOUT} if it is silent
     */
    public void connect(@Nullable ConnectionParameters parameters) {
        core.connection().connect(parameters);
    }

    /**
     * Accepts a connection request: brings the queue pair to ready-to-send and answers. C: {@code rdma_accept}. Data may
     * arrive before {@code ESTABLISHED}; ends with that, or {@code UNREACHABLE} or {@code REJECTED}.
     *
     * @param parameters what to say; null, and a depth of {@link ConnectionParameters#DEVICE_MAXIMUM}, stand for what the
     *     peer asked for within what the device can. Without a queue pair of the identifier it must not be null
     * @throws RdmaException {@code EINVAL} if there is no request, a depth is more than the device's, or the private data
     *     are longer than {@link ConnectionParameters#REPLY_PRIVATE_DATA}; synchronous also {@code ECONNREFUSED} if the peer
     *     takes its request back, {@code ECONNRESET} if it ends before it is connected, and {@code ETIMEDOUT} if it is silent
     */
    public void accept(@Nullable ConnectionParameters parameters) {
        core.connection().accept(parameters);
    }

    /**
     * Rejects a connection request, or the peer's acceptance. C: {@code rdma_reject}. The peer gets {@code REJECTED} with
     * reason 28.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void reject(byte[] privateData) {
        core.connection().reject(privateData, false);
    }

    /**
     * Rejects because of the peer's {@link #remoteEnhancement}. C: {@code rdma_reject_ece}. The peer gets {@code REJECTED}
     * with reason 35. A datagram service is rejected as by {@link #reject}.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void rejectEnhancement(byte[] privateData) {
        core.connection().reject(privateData, true);
    }

    /**
     * Sets the connection enhancement options that {@link #connect} asks for or {@link #accept} answers, for a queue pair
     * that is not the identifier's. The answer goes under the vendor of the request. C: {@code rdma_set_local_ece}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair, or the vendor is 0
     */
    public void setLocalEnhancement(ConnectionEnhancement enhancement) {
        core.connection().localEnhancement(enhancement);
    }

    /**
     * The connection enhancement options of the peer's request or reply, for a queue pair that is not the identifier's. C:
     * {@code rdma_get_remote_ece}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair
     */
    public ConnectionEnhancement remoteEnhancement() {
        return core.connection().remoteEnhancement();
    }

    /**
     * Active side without a queue pair of the identifier: confirms the peer's acceptance after {@code CONNECT_RESPONSE},
     * when the application's queue pair is ready to send. C: {@code rdma_establish}. No event follows here.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair: then taking the event has done this
     */
    public void establish() {
        core.connection().establish();
    }

    /**
     * Tells that data arrived on the queue pair of a connection that waits for the peer's confirmation; the connection is
     * established then. C: {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}.
     *
     * @throws RdmaException {@code EISCONN} if it is established already, which may be ignored
     */
    public void notifyCommunicationEstablished() {
        core.locked(
                "rdma_notify",
                () -> core.binding()
                        .required("rdma_notify", IdCore.RESOLVE_FIRST)
                        .notifyCommunicationEstablished());
    }

    /**
     * Disconnects, or answers the peer's disconnection: the queue pair goes to the error state, and what is posted is
     * flushed. C: {@code rdma_disconnect}. Both sides get one {@code DISCONNECTED}, later {@code TIMEWAIT_EXIT}.
     *
     * @throws RdmaException {@code EINVAL} if there never was a connection; synchronous also if the peer refused it, if it is
     *     not established yet, or if it is over
     */
    public void disconnect() {
        core.connection().disconnect();
    }

    // ---- multicast

    /**
     * Joins a multicast group to send to it and to receive what is sent to it: {@link
     * #joinMulticast(MulticastJoinAttributes, Object)} with full membership. C: {@code rdma_join_multicast}.
     *
     * @param group a multicast address
     * @param context anything, to be found at the group's events
     */
    public void joinMulticast(InetAddress group, @Nullable Object context) {
        core.memberships().join("rdma_join_multicast", MulticastJoinAttributes.of(group), context);
    }

    /**
     * Joins a multicast group. C: {@code rdma_join_multicast_ex}. Ends with {@code MULTICAST_JOIN}, whose {@link
     * CmEvent#datagram} says how to send to the group, or {@code MULTICAST_ERROR}.
     *
     * <p>Taking the event attaches the identifier's queue pair to the group, so that it receives what is sent to it, also
     * by this host and by itself; not if the identifier joins to send only. Several identifiers and several processes may
     * join the same group. Closing the identifier leaves its groups.
     *
     * @param attributes which group, and how
     * @param context anything, to be found at the group's events by {@link CmEvent#multicastContext}
     * @throws RdmaException {@code EINVAL} unless the identifier is of a datagram service, has a device and is bound or
     *     has its address resolved; {@code EINVAL} for a wildcard, which on RoCE names no group, and a group of another
     *     address family; {@code EADDRINUSE} if something on this host keeps UDP port 4791 of the group for itself;
     *     synchronous also the failures of the event
     */
    public void joinMulticast(MulticastJoinAttributes attributes, @Nullable Object context) {
        core.memberships().join("rdma_join_multicast_ex", attributes, context);
    }

    /**
     * Leaves a multicast group that was joined by its address, and detaches the queue pair; waits until the events of the
     * group that were taken are acknowledged. C: {@code rdma_leave_multicast}.
     *
     * @throws RdmaException {@code EADDRNOTAVAIL} if the identifier has not joined the group; {@code EINTR} if the thread
     *     was interrupted while it waited: the group is left
     */
    public void leaveMulticast(InetAddress group) {
        core.memberships().leave(MulticastJoinAttributes.of(group));
    }

    /** Leaves a multicast group that was joined by its GID, see {@link #leaveMulticast(InetAddress)}. */
    public void leaveMulticast(Gid group) {
        core.memberships().leave(MulticastJoinAttributes.unmapped(group));
    }

    // ---- options

    /**
     * Sets the IPv4 type of service or IPv6 traffic class of the connection's packets. C: {@code rdma_set_option} with
     * {@code RDMA_OPTION_ID_TOS}.
     *
     * @param typeOfService 0 to 255
     */
    public void setTypeOfService(int typeOfService) {
        IdCore.requireRange(SET_OPTION, "type of service", typeOfService, 255);
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setTypeOfService(typeOfService)));
    }

    /**
     * Sets whether the port may be bound by several identifiers that all allow it; none of them can listen while there are
     * others. C: {@code RDMA_OPTION_ID_REUSEADDR}. May be set at any time, but taken back only while idle.
     */
    public void setReuseAddress(boolean reuseAddress) {
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setReuseAddress(reuseAddress)));
    }

    /**
     * Sets whether an IPv6 wildcard leaves IPv4 alone; without it a listener on {@code ::} takes IPv4 too. C: {@code
     * RDMA_OPTION_ID_AFONLY}. Only before listening.
     */
    public void setIpv6Only(boolean ipv6Only) {
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setIpv6Only(ipv6Only)));
    }

    /**
     * Sets who may connect to this listener; without a filter everybody may. It has no counterpart in C. May be set and changed
     * at any time, and counts for the requests that come afterwards; set before {@link #listen}, for all of them.
     *
     * @param filter asked for each request
     */
    public void setAccessFilter(AccessFilter filter) {
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setAccessFilter(filter)));
    }

    /**
     * Sets the acknowledgement time-out of the connection, 4.096 µs × 2<sup>n</sup>, in place of 19 (2.1 s). C: {@code
     * RDMA_OPTION_ID_ACK_TIMEOUT}. Counts if set before connecting.
     *
     * @param exponent 0 to 31; 0 waits for ever
     */
    public void setAckTimeout(int exponent) {
        IdCore.requireRange(SET_OPTION, "acknowledgement time-out exponent", exponent, 31);
        core.locked(SET_OPTION, () -> core.binding().option(id -> id.setAckTimeout(exponent)));
    }

    /**
     * Chooses the path instead of resolving the route. C: {@code RDMA_OPTION_IB_PATH}. Ends with {@code ROUTE_RESOLVED},
     * which comes to the event channel also of a synchronous identifier: {@link #event} has it after the next call that
     * waits.
     *
     * @throws RdmaException {@code EINVAL} unless the address is resolved and the route is not; or if the path MTU is more
     *     than the device carries
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
     * Puts an event of the application's own into the channel. C: {@code rdma_write_cm_event}.
     *
     * @param type {@link CmEvent.Type#USER}; nothing else can be written
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
     * Moves the identifier with its events to another channel; waits until the events already taken are acknowledged. C:
     * {@code rdma_migrate_id}.
     *
     * <p>Requests of a listener that nobody has taken move along. Events that the calling thread itself took are not waited
     * for.
     *
     * @param target the channel, or null to make the identifier synchronous
     * @throws RdmaException {@code EINVAL} if {@code target} is null and the identifier is synchronous already, or the
     *     identifier or {@code target} is closed; {@code EINTR} if the thread was interrupted while it waited: the
     *     identifier has moved
     */
    public void migrate(@Nullable EventChannel target) {
        core.migrate(target);
    }

    // ---- what it has

    /** Local address and port, or null while not bound. C: {@code rdma_get_local_addr}. */
    public @Nullable InetSocketAddress localAddress() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? null : provider.localAddress();
    }

    /** The peer's address and port, or null while not known. C: {@code rdma_get_peer_addr}. */
    public @Nullable InetSocketAddress peerAddress() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? null : provider.peerAddress();
    }

    /** Local port, 0 while not bound. C: {@code rdma_get_src_port}. */
    public int sourcePort() {
        InetSocketAddress local = localAddress();
        return local == null ? 0 : local.getPort();
    }

    /** The peer's port, 0 while not known. C: {@code rdma_get_dst_port}. */
    public int destinationPort() {
        InetSocketAddress peer = peerAddress();
        return peer == null ? 0 : peer.getPort();
    }

    /** Port space. */
    public PortSpace portSpace() {
        return core.portSpace();
    }

    /** The type of its queue pairs. C: {@code qp_type}. */
    public QueuePairType queuePairType() {
        return core.queuePairType();
    }

    /** Whether the identifier has a device: after binding to an address that is no wildcard, or resolving one. */
    public boolean hasDevice() {
        ProviderCmId provider = core.binding().first();
        return provider != null && provider.device() != null;
    }

    /**
     * The open device. It stays open as long as it is there. Where an interface has gone and another has its name, the old
     * device is closed, with all that was made from it, when no identifier uses it, unless {@link CmDevices#list} has told
     * of it. C: {@code id->verbs}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device, see {@link #hasDevice}
     */
    public DeviceContext verbs() {
        return core.deviceUse("rdma_cm_id.verbs").context();
    }

    /** The device's port, from 1; 0 while the identifier has no device. */
    public int portNumber() {
        ProviderCmId provider = core.binding().first();
        return provider == null ? 0 : provider.portNumber();
    }

    /** The identifier's queue pair, or null. */
    public @Nullable QueuePair queuePair() {
        IdQueuePair own = core.queuePair();
        return own == null ? null : own.queuePair();
    }

    /** The identifier's own shared receive queue, or null. C: {@code id->srq}. */
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return core.queues().sharedReceiveQueue();
    }

    /**
     * The queue pair's domain, else the default domain of the device, which lives as long as any identifier uses it. C:
     * {@code id->pd}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public ProtectionDomain protectionDomain() {
        IdQueuePair own = core.queuePair();
        return own == null
                ? core.deviceUse("rdma_cm_id.pd").defaultDomain()
                : own.queuePair().protectionDomain();
    }

    /**
     * The default domain of extended connections of the device, made when first asked for; it lives as long as any
     * identifier uses the device. Its targets and shared receive queues can be those of several identifiers.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public XrcDomain xrcDomain() {
        return core.deviceUse("ibv_open_xrcd").defaultXrcDomain();
    }

    /** Where the queue pair's send work requests are reported, or null without a queue pair. */
    public @Nullable CompletionQueue sendCompletions() {
        IdQueuePair own = core.queuePair();
        return own == null ? null : own.queuePair().sendCompletions();
    }

    /** Where receives are reported: those of the shared queue of extended connections, else the queue pair's; or null. */
    public @Nullable CompletionQueue receiveCompletions() {
        return core.queues().receiveCompletions();
    }

    /** The channel made for {@link #sendCompletions}, or null if the application gave the queue. */
    public @Nullable CompletionChannel sendCompletionChannel() {
        IdQueuePair own = core.queuePair();
        return own == null ? null : own.sendChannel();
    }

    /** The channel made for {@link #receiveCompletions}, or null if the application gave the queue. */
    public @Nullable CompletionChannel receiveCompletionChannel() {
        return core.queues().receiveChannel();
    }

    /** The channel of its events, or null if the identifier is synchronous. */
    public @Nullable EventChannel channel() {
        return core.isSynchronous() ? null : core.channel();
    }

    /** What the application left here. */
    public @Nullable Object context() {
        return core.context;
    }

    /** Leaves something here for the application. */
    public void setContext(@Nullable Object value) {
        core.context = value;
    }

    /** Synchronous: the event of the last call that waited for one, until the next such call; else null. */
    public @Nullable CmEvent event() {
        return core.event();
    }

    /**
     * Closes the identifier with its queue pair, and its shared receive queue if no other uses that. C: {@code
     * rdma_destroy_id}. A peer is told by what the state asks for: an unanswered request is rejected, an established
     * connection disconnected. A thread that waits in a call of a synchronous identifier gets {@code EINVAL}.
     *
     * <p>Waits until all events of the identifier and of its completion queues are acknowledged; events of the identifier
     * that the calling thread itself took are not waited for, so a thread may close it while it handles one. Other threads may
     * call the identifier meanwhile: calls are refused. If the thread is interrupted the wait ends and its flag stays set.
     * Closing again does nothing, or closes the completion queues that could not be closed.
     *
     * @throws RdmaException {@code EBUSY} if a queue pair or shared receive queue of another identifier reports to a
     *     completion queue of this one, {@code EINTR} if the thread is interrupted while it waits for an event of a
     *     completion queue: all but these completion queues is closed, the port is free, and another call closes them
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
