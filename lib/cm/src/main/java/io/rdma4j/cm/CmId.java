package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of the connection manager, the counterpart of a TCP socket. C: {@code struct rdma_cm_id}. Thread safe.
 *
 * <p>{@link EventChannel#createId} creates an asynchronous identifier. Its calls return immediately, and events of the
 * channel report their results. {@link #create} creates a <em>synchronous</em> identifier. Its methods
 * {@link #resolveAddress}, {@link #resolveRoute}, {@link #connect}, {@link #accept} and {@link #disconnect} wait for
 * their event, store it in {@link #event}, and throw an exception if its status is not 0. A waiting call throws
 * {@link io.rdma4j.verbs.ClosedException} if another thread closes the identifier, {@code EINVAL} if another thread
 * moves it to a channel, and {@code EINTR} if the thread is interrupted.
 *
 * <p>Every call throws {@link RdmaException} with {@code EINVAL} if the identifier's state does not allow it. The
 * message names the state.
 */
public final class CmId extends IdState {
    CmId(EventChannel channel, boolean synchronous, PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        super(channel, synchronous, portSpace, type, context);
    }

    /** Creates the identifier of a connection request. */
    CmId(CmId listener, ProviderCmId child) {
        super(listener, child);
    }

    /**
     * Creates a synchronous identifier. C: {@code rdma_create_id} without a channel.
     *
     * @param portSpace the port space
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static CmId create(PortSpace portSpace) {
        return ConnectionManager.ofProcess().createId(portSpace);
    }

    /**
     * Creates a synchronous identifier with a context object, like {@link #create(PortSpace)}.
     *
     * @param context object for the application's use, stored in the identifier; may be null
     */
    public static CmId create(PortSpace portSpace, @Nullable Object context) {
        return ConnectionManager.ofProcess().createId(portSpace, context);
    }

    /**
     * Creates a synchronous identifier for a queue pair type. In C only {@code rdma_create_ep} creates such
     * identifiers.
     *
     * <p>For an XRC connection, the connecting identifier has the type {@link QueuePairType#XRC_SEND}. The listening
     * identifier and the identifiers of its requests have the type {@link QueuePairType#XRC_RECEIVE}. The application
     * must transfer the numbers of the shared receive queues, for example in the private data of {@link #accept()}.
     *
     * @param type a type of the port space; any type in {@link PortSpace#IB}
     * @param context object for the application's use, stored in the identifier; may be null
     * @throws RdmaException as for {@link #create(PortSpace)}; {@code EINVAL} if the port space does not have the type
     */
    public static CmId create(PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        return ConnectionManager.ofProcess().createId(portSpace, type, context);
    }

    // ---- addresses and route

    /**
     * Binds to a local address and port. C: {@code rdma_bind_addr}.
     *
     * @param local an address of this host, or a wildcard for all addresses of the devices that the user allows
     *     ({@link io.rdma4j.verbs.Device#chosen}). Port 0 selects a free port, which {@link #sourcePort} returns. A
     *     link-local IPv6 address must have its scope
     * @throws RdmaException {@code EADDRNOTAVAIL} if no network interface that is up has the address, if the port is in
     *     use and one of the two addresses is a wildcard, or if no port is free; {@code ENODEV} if no device has the
     *     address; {@code EADDRINUSE} if the port is in use at the address; {@code EACCES} if the process lacks the
     *     privilege for a port below 1024; {@code EINVAL} unless the identifier is idle
     */
    public void bindAddress(InetSocketAddress local) {
        locked("rdma_bind_addr", () -> binding.bind(local));
    }

    /**
     * Determines the device and the local address from which a destination is reached. C: {@code rdma_resolve_addr}.
     * Ends with {@code ADDRESS_RESOLVED} or {@code ADDRESS_ERROR}. If the identifier is not bound to an address, the
     * operating system's routing selects the local address.
     *
     * @param destination the peer; a wildcard means the loopback address
     * @param timeout maximum duration of the resolution
     * @throws RdmaException {@code ENETUNREACH} if the host has no route; {@code EINVAL} if the families differ; if
     *     synchronous, also the failures of the event
     */
    public void resolveAddress(InetSocketAddress destination, Duration timeout) {
        resolveAddress(null, destination, timeout);
    }

    /**
     * Resolves an address like {@link #resolveAddress(InetSocketAddress, Duration)}, and binds to a local address.
     *
     * @param source local address to use, such as {@link AddressInformation#source}; null if any address is suitable
     * @throws RdmaException also {@code ENODEV} if no device has {@code source}
     */
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        locked("rdma_resolve_addr", () -> binding.resolveAddress(source, destination, timeout));
        events.complete("rdma_resolve_addr");
    }

    /**
     * Resolves the route to the destination. C: {@code rdma_resolve_route}. Ends with {@code ROUTE_RESOLVED} or {@code
     * ROUTE_ERROR}.
     *
     * @param timeout maximum duration of the resolution
     */
    public void resolveRoute(Duration timeout) {
        String operation = "rdma_resolve_route";
        locked(operation, () -> binding.required(operation, RESOLVE_ADDRESS).resolveRoute(timeout));
        events.complete(operation);
    }

    /**
     * Looks up a node and a service in the background. C: {@code rdma_resolve_addrinfo}. Ends with
     * {@code ADDRESS_INFORMATION_RESOLVED} or {@code ADDRESS_INFORMATION_ERROR}.
     * {@link AddressInformation#lookUp(String, String)} describes the parameters.
     *
     * @throws RdmaException {@code EBUSY} if a lookup is in progress, or its result was not retrieved; if synchronous,
     *     also the failures of the event
     */
    public void resolveAddressInformation(@Nullable String node, @Nullable String service) {
        lookup().start(node, service, null);
    }

    /** Looks up a node and a service like {@link #resolveAddressInformation(String, String)}, with criteria. */
    public void resolveAddressInformation(
            @Nullable String node, @Nullable String service, AddressInformation.Hints hints) {
        lookup().start(node, service, hints);
    }

    /**
     * Returns the result of the lookup, and removes it. C: {@code rdma_query_addrinfo}.
     *
     * @throws RdmaException {@code ENOENT} if no result is available
     */
    public AddressInformation queryAddressInformation() {
        return lookup().query();
    }

    // ---- queue pair

    /**
     * Creates the identifier's queue pair in the device's default protection domain, and moves it to the INIT state.
     * Receives can then be posted. A datagram queue pair is moved to ready-to-send. C: {@code rdma_create_qp}.
     *
     * <p>If the attributes lack the type, the queue pair has the type of the identifier. If they lack a completion
     * queue, one is created with a channel. If they lack a shared receive queue, the queue pair uses
     * {@link #sharedReceiveQueue}. If they lack the domain of the target of an extended connection, it uses
     * {@link #xrcDomain}.
     *
     * @param attributes sizes and completion queues, for example {@link QueuePairInitAttributes#defaults}
     * @return the queue pair, which {@link #queuePair} also returns
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already has a queue pair, or if the
     *     attributes have a type other than the identifier's
     */
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) {
        return queues.createQueuePair(null, attributes);
    }

    /**
     * Creates the identifier's queue pair like {@link #createQueuePair(QueuePairInitAttributes)}, in the given
     * protection domain of the identifier's device.
     *
     * @throws RdmaException also {@code EINVAL} if the domain belongs to another device
     */
    public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairInitAttributes attributes) {
        return queues.createQueuePair(protectionDomain, attributes);
    }

    /**
     * Closes the queue pair and the completion queues that were created with it, if any. Waits until the events of the
     * completion queues are acknowledged. C: {@code rdma_destroy_qp}.
     *
     * @throws RdmaException {@code EBUSY} if another queue pair reports to one of the completion queues; {@code EINTR}
     *     if the thread is interrupted during the wait. In both cases the queue pair is closed, and another call closes
     *     the completion queues
     */
    public void destroyQueuePair() {
        queues.destroyQueuePair();
    }

    /**
     * Creates a shared receive queue in the device's default protection domain. Queue pairs of this identifier use it,
     * unless their attributes specify another one. Queue pairs of the device's other identifiers can also use it. C:
     * {@code rdma_create_srq}.
     *
     * <p>The shared receive queue serves XRC connections instead if the identifier has the type
     * {@link QueuePairType#XRC_RECEIVE}, or the attributes have an XRC domain. If the attributes lack the domain,
     * {@link #xrcDomain} is used. If they lack the completion queue, one is created with a channel:
     * {@link #receiveCompletions}.
     *
     * @param attributes the attributes of the queue
     * @return the queue, which {@link #sharedReceiveQueue} also returns
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already has a shared receive queue
     */
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes) {
        return queues.createSharedReceiveQueue(null, attributes);
    }

    /**
     * Creates a shared receive queue like {@link #createSharedReceiveQueue(SharedReceiveQueueInitAttributes)}, in the
     * given protection domain.
     */
    public SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain protectionDomain, SharedReceiveQueueInitAttributes attributes) {
        return queues.createSharedReceiveQueue(protectionDomain, attributes);
    }

    /**
     * Closes the shared receive queue, if any. C: {@code rdma_destroy_srq}.
     *
     * @throws RdmaException {@code EBUSY} while queue pairs use the queue
     */
    public void destroySharedReceiveQueue() {
        queues.destroySharedReceiveQueue();
    }

    /**
     * Returns the attributes that move a queue pair of the application to a state. C: {@code rdma_init_qp_attr}.
     *
     * @param target INIT, READY_TO_RECEIVE or READY_TO_SEND
     * @throws RdmaException {@code EINVAL} if the identifier has no device, or for the ready states before the peer's
     *     message has arrived
     */
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        return binding.required("rdma_init_qp_attr", RESOLVE_FIRST).initQueuePairAttributes(target);
    }

    // ---- connection

    /**
     * Starts listening for connection requests. A {@code CONNECT_REQUEST} event reports each request. An unbound
     * identifier is bound to all IPv4 addresses and a free port. C: {@code rdma_listen}.
     *
     * @param backlog maximum number of pending requests; 0, a negative value or a value above 1024 means 1024. Further
     *     requests are not answered, so that the peer repeats them
     */
    public void listen(int backlog) {
        locked("rdma_listen", () -> binding.listen(backlog));
    }

    /**
     * Waits for the next connection request of a synchronous listener. C: {@code rdma_get_request}.
     *
     * @return the identifier of the new connection, which is also synchronous and has the request as its
     *     {@link #event}. If the listener was created by {@link ConnectionManager#createEndpoint} with attributes or by
     *     {@link ConnectionManager#listen}, the identifier has a queue pair
     * @throws RdmaException {@code EINVAL} if the identifier is not synchronous, or is closed or migrated during the
     *     wait; {@code EINTR} if the thread is interrupted; the error of another event if that arrives instead
     */
    public CmId getRequest() {
        CmId request = events.getRequest();
        return ConnectionManager.orClose(request, () -> requestSetUp.accept(request));
    }

    /**
     * Sends a connection request to the peer with {@link ConnectionParameters#defaults}. Requires a queue pair of the
     * identifier. C: {@code rdma_connect} without parameters. Ends like {@link #connect(ConnectionParameters)}.
     *
     * @throws RdmaException as for {@link #connect(ConnectionParameters)}; {@code EINVAL} without a queue pair
     */
    public void connect() {
        connection.connect(null);
    }

    /**
     * Sends a connection request to the peer. C: {@code rdma_connect}. Ends with {@code ESTABLISHED} (or {@code
     * CONNECT_RESPONSE} without a queue pair of the identifier), {@code REJECTED}, {@code UNREACHABLE} or {@code
     * CONNECT_ERROR}.
     *
     * @param parameters parameters for the peer
     * @throws RdmaException {@code EINVAL} if the route is not resolved, a depth exceeds the device's limit, or the
     *     private data exceed {@link ConnectionParameters#REQUEST_PRIVATE_DATA}; if synchronous, also
     *     {@code ECONNREFUSED} if the peer rejects the connection, and {@code ETIMEDOUT} if the peer does not reply
     */
    public void connect(ConnectionParameters parameters) {
        connection.connect(parameters);
    }

    /**
     * Accepts a connection request with the depths that the peer requested, limited to the device's maximum. Requires a
     * queue pair of the identifier. C: {@code rdma_accept} without parameters. Ends like {@link
     * #accept(ConnectionParameters)}.
     *
     * @throws RdmaException as for {@link #accept(ConnectionParameters)}; {@code EINVAL} without a queue pair
     */
    public void accept() {
        connection.accept(null);
    }

    /**
     * Accepts a connection request: moves the queue pair to ready-to-send and sends the reply. C: {@code rdma_accept}.
     * Ends with {@code ESTABLISHED}, {@code UNREACHABLE} or {@code REJECTED}. Data may arrive before {@code
     * ESTABLISHED}.
     *
     * @param parameters parameters for the peer; a depth of {@link ConnectionParameters#DEVICE_MAXIMUM} means the depth
     *     that the peer requested, limited to the device's maximum
     * @throws RdmaException {@code EINVAL} if the identifier has no request, a depth exceeds the device's limit, or the
     *     private data exceed {@link ConnectionParameters#REPLY_PRIVATE_DATA}. If synchronous, also
     *     {@code ECONNREFUSED} if the peer withdraws its request, {@code ECONNRESET} if the peer disconnects before the
     *     connection is established, and {@code ETIMEDOUT} if the peer does not reply
     */
    public void accept(ConnectionParameters parameters) {
        connection.accept(parameters);
    }

    /**
     * Waits until the peer disconnects, or the connection ends in another way. Only for a synchronous identifier. C:
     * {@code rdma_get_cm_event} on the channel of the identifier.
     *
     * @throws RdmaException if an event other than {@code DISCONNECTED} arrives; {@code EINVAL} if the identifier
     *     reports to an event channel, or is closed during the wait; {@code EINTR} if the thread is interrupted
     */
    public void awaitDisconnect() {
        events.awaitDisconnect();
    }

    /**
     * Returns the private data of the peer's connection request or acceptance; empty before it arrives. The array is
     * the message's whole field, so zeros follow the peer's bytes.
     */
    public byte[] peerPrivateData() {
        return connection.peerPrivateData();
    }

    /**
     * Rejects a connection request, or the peer's acceptance. C: {@code rdma_reject}. The peer receives {@code
     * REJECTED} with reason 28.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void reject(byte[] privateData) {
        connection.reject(privateData, false);
    }

    /**
     * Rejects a connection because of the peer's {@link #remoteEnhancement}. C: {@code rdma_reject_ece}. The peer
     * receives {@code REJECTED} with reason 35. A datagram service is rejected like by {@link #reject}.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void rejectEnhancement(byte[] privateData) {
        connection.reject(privateData, true);
    }

    /**
     * Sets the connection enhancement options that {@link #connect} or {@link #accept} sends. Only for a queue pair
     * that does not belong to the identifier. A reply has the vendor of the request. C: {@code rdma_set_local_ece}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair, or the vendor is 0
     */
    public void setLocalEnhancement(ConnectionEnhancement enhancement) {
        connection.localEnhancement(enhancement);
    }

    /**
     * Returns the connection enhancement options of the peer's request or reply. Only for a queue pair that does not
     * belong to the identifier. C: {@code rdma_get_remote_ece}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair
     */
    public ConnectionEnhancement remoteEnhancement() {
        return connection.remoteEnhancement();
    }

    /**
     * Confirms the peer's acceptance after {@code CONNECT_RESPONSE}, when the application's queue pair is ready to
     * send. Only for the active side without a queue pair of the identifier. No local event follows. C: {@code
     * rdma_establish}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair, because taking the event has already
     *     confirmed it
     */
    public void establish() {
        connection.establish();
    }

    /**
     * Reports that data arrived on the queue pair of a connection that waits for the peer's confirmation. This
     * establishes the connection. C: {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}.
     *
     * @throws RdmaException {@code EISCONN} if the connection is already established; the program may ignore this
     */
    public void notifyCommunicationEstablished() {
        locked(
                "rdma_notify",
                () -> binding.required("rdma_notify", RESOLVE_FIRST).notifyCommunicationEstablished());
    }

    /**
     * Disconnects, or replies to the peer's disconnect request. The queue pair moves to the error state, and its posted
     * work requests are flushed. C: {@code rdma_disconnect}. Both sides receive one {@code DISCONNECTED}, and later
     * {@code TIMEWAIT_EXIT}. A program must call this method after each {@code DISCONNECTED}, even if it has already
     * called it: if both sides disconnect at the same time, the kernel replies to the peer's request only then.
     *
     * @throws RdmaException {@code EINVAL} if the identifier never had a connection; if synchronous, also if the peer
     *     rejected the connection, or if it is not established yet or has ended
     */
    public void disconnect() {
        connection.disconnect();
    }

    // ---- multicast

    /** Joins a multicast group without a context object, like {@link #joinMulticast(InetAddress, Object)}. */
    public void joinMulticast(InetAddress group) {
        joinMulticast(group, null);
    }

    /**
     * Joins a multicast group with full membership, like {@link #joinMulticast(MulticastJoinAttributes, Object)}. C:
     * {@code rdma_join_multicast}.
     *
     * @param group a multicast address
     * @param context object for the application's use, returned by {@link CmEvent.MulticastJoin#context}; may be null
     */
    public void joinMulticast(InetAddress group, @Nullable Object context) {
        memberships().join("rdma_join_multicast", MulticastJoinAttributes.of(group), context);
    }

    /** Joins a multicast group without a context object: {@link #joinMulticast(MulticastJoinAttributes, Object)}. */
    public void joinMulticast(MulticastJoinAttributes attributes) {
        joinMulticast(attributes, null);
    }

    /**
     * Joins a multicast group. C: {@code rdma_join_multicast_ex}. Ends with {@code MULTICAST_JOIN}, with the parameters
     * for sending to the group ({@link CmEvent.MulticastJoin#group}), or with {@code MULTICAST_ERROR}.
     *
     * <p>Taking the event attaches the identifier's queue pair to the group, unless the identifier joins only to send.
     * The queue pair then receives the datagrams to the group, including datagrams from this host and from itself.
     * Several identifiers and several processes may join the same group. Closing the identifier leaves its groups.
     *
     * @param attributes the group and the type of membership
     * @param context object for the application's use, returned by {@link CmEvent.MulticastJoin#context}; may be null
     * @throws RdmaException {@code EINVAL} unless the identifier is for a datagram service, has a device, and is bound
     *     or has resolved its address; {@code EINVAL} for a wildcard, which specifies no group on RoCE, and for a group
     *     of another address family; {@code EADDRINUSE} if a socket of this host has bound the group's UDP port 4791
     *     exclusively; if synchronous, also the failures of the event
     */
    public void joinMulticast(MulticastJoinAttributes attributes, @Nullable Object context) {
        memberships().join("rdma_join_multicast_ex", attributes, context);
    }

    /**
     * Leaves a multicast group that was joined by its address, and detaches the queue pair. Waits until the taken
     * events of the group are acknowledged. C: {@code rdma_leave_multicast}.
     *
     * @throws RdmaException {@code EADDRNOTAVAIL} if the identifier has not joined the group; {@code EINTR} if the
     *     thread is interrupted during the wait; the identifier has then left the group
     */
    public void leaveMulticast(InetAddress group) {
        memberships().leave(MulticastJoinAttributes.of(group));
    }

    /** Leaves a multicast group that was joined by its GID, like {@link #leaveMulticast(InetAddress)}. */
    public void leaveMulticast(Gid group) {
        memberships().leave(MulticastJoinAttributes.unmapped(group));
    }

    // ---- events

    /**
     * Adds an event of the application to the channel. C: {@code rdma_write_cm_event}.
     *
     * @param type {@link CmEvent.Type#USER}; other types cannot be written
     * @param status any number, for {@link CmEvent#status}
     * @param argument any number, for {@link CmEvent.User#argument}
     * @throws RdmaException {@code EINVAL} for another type
     */
    public void writeEvent(CmEvent.Type type, int status, long argument) {
        String operation = "rdma_write_cm_event";
        if (type != CmEvent.Type.USER) {
            throw invalid(operation, "an event of type " + type + " cannot be written", "Write USER events");
        }
        locked(operation, () -> events.onEvent(new CmEvent.User(status, argument)));
    }

    /**
     * Moves the identifier and its events to another channel. Waits until the events that other threads have taken
     * from the old channel are acknowledged. A listener's pending requests also move. C: {@code rdma_migrate_id}.
     *
     * @param target the channel, or null to make the identifier synchronous
     * @throws RdmaException {@code EINVAL} if {@code target} is null and the identifier is already synchronous, or the
     *     identifier or {@code target} is closed; {@code EINTR} if the thread is interrupted during the wait; the
     *     identifier has then moved
     */
    public void migrate(@Nullable EventChannel target) {
        events.migrate(target);
    }
}
