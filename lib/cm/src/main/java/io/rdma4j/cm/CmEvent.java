package io.rdma4j.cm;

import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An event of an identifier. C: {@code struct rdma_cm_event}. Thread safe.
 *
 * <p>The subclasses have the data that only some events carry. A program can {@code switch} over them or over {@link
 * #type}:
 *
 * {@snippet :
 * switch (channel.await()) {
 *     case CmEvent.ConnectRequest request -> serve(request.id(), request.privateData());
 *     case CmEvent.Rejected rejected -> retry(rejected.id(), rejected.reasonText());
 *     case CmEvent.Disconnected end -> forget(end.id());
 *     default -> {}
 * }
 * }
 *
 * <p>Every event must be acknowledged once, by {@link #acknowledge} or {@link #close}. {@link CmId#close} and {@link
 * CmId#migrate} wait for the acknowledgement, except for events that the calling thread has taken. An event's data stay
 * available after the acknowledgement, and after its identifier is closed.
 *
 * <p>A provider of the connection manager creates events and passes them to its {@code CmEventSink}. The event channel
 * that queues an event adds the identifier.
 */
public abstract sealed class CmEvent implements AutoCloseable {
    /** Event types. C: {@code enum rdma_cm_event_type}. */
    public enum Type {
        /** The address is resolved, and the identifier has a device. */
        ADDRESS_RESOLVED(0, "RDMA_CM_EVENT_ADDR_RESOLVED"),
        /** Address resolution failed. The status is a negative errno. The application may retry. */
        ADDRESS_ERROR(1, "RDMA_CM_EVENT_ADDR_ERROR"),
        /** The route is resolved. */
        ROUTE_RESOLVED(2, "RDMA_CM_EVENT_ROUTE_RESOLVED"),
        /** Route resolution failed. The status is a negative errno. The application may retry. */
        ROUTE_ERROR(3, "RDMA_CM_EVENT_ROUTE_ERROR"),
        /**
         * On the passive side, a peer requests a connection. {@link #id} is a new identifier. See
         * {@link ConnectRequest}.
         */
        CONNECT_REQUEST(4, "RDMA_CM_EVENT_CONNECT_REQUEST"),
        /**
         * On the active side, the peer has accepted. Only reported if the identifier has no queue pair. The application
         * must call {@link CmId#establish}.
         */
        CONNECT_RESPONSE(5, "RDMA_CM_EVENT_CONNECT_RESPONSE"),
        /** The peer has accepted, but the queue pair could not be moved to the ready-to-send state. */
        CONNECT_ERROR(6, "RDMA_CM_EVENT_CONNECT_ERROR"),
        /** The peer did not reply in time. The status is a negative errno. */
        UNREACHABLE(7, "RDMA_CM_EVENT_UNREACHABLE"),
        /**
         * The peer has rejected the connection. The status is the {@link RejectReason}. The queue pair is in the error
         * state.
         */
        REJECTED(8, "RDMA_CM_EVENT_REJECTED"),
        /** The connection is established. */
        ESTABLISHED(9, "RDMA_CM_EVENT_ESTABLISHED"),
        /** Either side has disconnected. The status is a negative errno if the peer did not reply. */
        DISCONNECTED(10, "RDMA_CM_EVENT_DISCONNECTED"),
        /** The device was removed. The identifier must be closed. */
        DEVICE_REMOVAL(11, "RDMA_CM_EVENT_DEVICE_REMOVAL"),
        /**
         * The multicast group is joined. {@link MulticastJoin} has the parameters for sending to it. The identifier's
         * queue pair is attached to the group, unless the identifier joined only to send.
         */
        MULTICAST_JOIN(12, "RDMA_CM_EVENT_MULTICAST_JOIN"),
        /**
         * Joining a multicast group failed, or the queue pair could not be attached to it. The status is a negative
         * errno.
         */
        MULTICAST_ERROR(13, "RDMA_CM_EVENT_MULTICAST_ERROR"),
        /**
         * The local address was removed from the device, or the interface's hardware address changed, for example at a
         * bond's failover. Connections may no longer work. This is a hint: it ends no connection.
         */
        ADDRESS_CHANGE(14, "RDMA_CM_EVENT_ADDR_CHANGE"),
        /** The time-wait state has ended, and the queue pair number may be reused. */
        TIMEWAIT_EXIT(15, "RDMA_CM_EVENT_TIMEWAIT_EXIT"),
        /** The address lookup is complete, and {@link CmId#queryAddressInformation} returns its result. */
        ADDRESS_INFORMATION_RESOLVED(16, "RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
        /** The address lookup failed. The status is a negative errno. The application may retry. */
        ADDRESS_INFORMATION_ERROR(17, "RDMA_CM_EVENT_ADDRINFO_ERROR"),
        /** The application wrote the event with {@link CmId#writeEvent}. C has no name for this type. */
        USER(18, "UNKNOWN EVENT");

        private final int code;
        private final String text;

        Type(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /** Returns the number in {@code enum rdma_cm_event_type}. */
        public int code() {
            return code;
        }

        /** Returns the symbolic name in C. C: {@code rdma_event_str}. */
        public String text() {
            return text;
        }
    }

    /** The status of a refused datagram service if the peer's program rejected the request. */
    private static final int SERVICE_REJECTED = 2;

    private final Type type;
    private final int status;
    private final ConnectionParameters connection;
    private final String explanation;

    /** The identifier; null until {@link #of}. */
    private @Nullable CmId id;

    /** The identifier that waits for the acknowledgement: for a request, the listener. Null until {@link #of}. */
    private @Nullable CmId owner;

    /** The event to acknowledge: this event, or the event that it replaces. */
    private CmEvent counted = this;

    private CmEvent(Type type, int status, ConnectionParameters connection, String explanation) {
        this.type = type;
        this.status = status;
        this.connection = connection;
        this.explanation = explanation;
    }

    // ---- the kinds of events

    /**
     * An event without data. The types are {@link Type#ADDRESS_RESOLVED}, {@link Type#ROUTE_RESOLVED}, {@link
     * Type#ADDRESS_CHANGE}, {@link Type#TIMEWAIT_EXIT}, {@link Type#DEVICE_REMOVAL} and {@link
     * Type#ADDRESS_INFORMATION_RESOLVED}.
     */
    public static final class Notice extends CmEvent {
        /** Creates an event without an explanation. */
        public Notice(Type type) {
            this(type, "");
        }

        /** Creates an event with an explanation, for a device that was removed. */
        public Notice(Type type, String explanation) {
            super(type, 0, ConnectionParameters.NONE, explanation);
        }
    }

    /**
     * A step has failed. The types are {@link Type#ADDRESS_ERROR}, {@link Type#ROUTE_ERROR},
     * {@link Type#CONNECT_ERROR}, {@link Type#UNREACHABLE} and {@link Type#ADDRESS_INFORMATION_ERROR}.
     */
    public static final class Failure extends CmEvent {
        /** Creates an event; {@code status} is a negative errno. */
        public Failure(Type type, int status, String explanation) {
            this(type, status, ConnectionParameters.NONE, explanation);
        }

        /** Creates an event with the parameters, or only the private data, of the peer's message. */
        public Failure(Type type, int status, ConnectionParameters connection, String explanation) {
            super(type, status, connection, explanation);
        }
    }

    /**
     * A peer requests a connection or a datagram service: {@link Type#CONNECT_REQUEST}. {@link #id} is a new
     * identifier.
     */
    public static final class ConnectRequest extends CmEvent {
        private final ConnectionEnhancement enhancement;

        /**
         * Creates the event of a request; {@code connection} has the peer's depths from the perspective of this side.
         */
        public ConnectRequest(ConnectionParameters connection, ConnectionEnhancement enhancement) {
            super(Type.CONNECT_REQUEST, 0, connection, "");
            this.enhancement = enhancement;
        }

        /** Returns the listening identifier. C: {@code listen_id}. */
        public CmId listener() {
            return owner();
        }

        /** Returns the enhancement options of the request, or none. C: {@code param.ece}. */
        public ConnectionEnhancement enhancement() {
            return enhancement;
        }
    }

    /** The peer has accepted, and the program must call {@link CmId#establish}: {@link Type#CONNECT_RESPONSE}. */
    public static final class ConnectResponse extends CmEvent {
        private final ConnectionEnhancement enhancement;

        /** Creates the event of a reply; {@code connection} has the peer's depths from the perspective of this side. */
        public ConnectResponse(ConnectionParameters connection, ConnectionEnhancement enhancement) {
            super(Type.CONNECT_RESPONSE, 0, connection, "");
            this.enhancement = enhancement;
        }

        /** Returns the enhancement options of the reply, or none. C: {@code param.ece}. */
        public ConnectionEnhancement enhancement() {
            return enhancement;
        }
    }

    /** The connection is established: {@link Type#ESTABLISHED}. */
    public static final class Established extends CmEvent {
        /**
         * Creates the event of a connection. On the active side, {@code connection} has the parameters of the reply.
         */
        public Established(ConnectionParameters connection) {
            super(Type.ESTABLISHED, 0, connection, "");
        }
    }

    /** The peer's datagram service is known: {@link Type#ESTABLISHED} of a datagram identifier. */
    public static final class ServiceResolved extends CmEvent {
        private final DatagramParameters datagram;

        /** Creates the event of a datagram service. */
        public ServiceResolved(DatagramParameters datagram) {
            super(Type.ESTABLISHED, 0, ConnectionParameters.NONE.withPrivateData(datagram.privateData()), "");
            this.datagram = datagram;
        }

        /** Returns the parameters for sending to the service. C: {@code param.ud}. */
        public DatagramParameters datagram() {
            return datagram;
        }
    }

    /** The peer has rejected the connection: {@link Type#REJECTED}. */
    public static final class Rejected extends CmEvent {
        /** Creates the event of a rejection, with the number of the reason and the private data of the message. */
        public Rejected(int reason, ConnectionParameters connection, String explanation) {
            super(Type.REJECTED, reason, connection, explanation);
        }

        /** Returns a short text for the reason, such as {@code "consumer defined (28)"}. */
        public String reasonText() {
            return RejectReason.text(status());
        }
    }

    /** Either side has disconnected: {@link Type#DISCONNECTED}. */
    public static final class Disconnected extends CmEvent {
        /** Creates the event; {@code status} is 0, or a negative errno if the peer did not reply. */
        public Disconnected(int status, String explanation) {
            super(Type.DISCONNECTED, status, ConnectionParameters.NONE, explanation);
        }
    }

    /** A multicast group is joined: {@link Type#MULTICAST_JOIN}. */
    public static final class MulticastJoin extends CmEvent {
        private final Object membership;
        private final DatagramParameters group;

        /**
         * Creates the event; {@code membership} is the object that was passed to {@code ProviderCmId.joinMulticast}.
         */
        public MulticastJoin(Object membership, DatagramParameters group) {
            super(Type.MULTICAST_JOIN, 0, ConnectionParameters.NONE, "");
            this.membership = membership;
            this.group = group;
        }

        /** Returns the parameters for sending to the group. C: {@code param.ud}. */
        public DatagramParameters group() {
            return group;
        }

        /** Returns the context passed to the join, or null. C: {@code param.ud.private_data}. */
        public @Nullable Object context() {
            return MulticastMemberships.contextOf(membership);
        }

        Object membership() {
            return membership;
        }
    }

    /** A multicast group could not be joined: {@link Type#MULTICAST_ERROR}. */
    public static final class MulticastError extends CmEvent {
        private final Object membership;

        /** Creates the event; {@code membership} is the object passed to {@code ProviderCmId.joinMulticast}. */
        public MulticastError(Object membership, int status, String explanation) {
            super(Type.MULTICAST_ERROR, status, ConnectionParameters.NONE, explanation);
            this.membership = membership;
        }

        /** Returns the context passed to the join, or null. C: {@code param.ud.private_data}. */
        public @Nullable Object context() {
            return MulticastMemberships.contextOf(membership);
        }

        Object membership() {
            return membership;
        }
    }

    /** The program has written an event with {@link CmId#writeEvent}: {@link Type#USER}. */
    public static final class User extends CmEvent {
        private final long argument;

        /** Creates the event. */
        public User(int status, long argument) {
            super(Type.USER, status, ConnectionParameters.NONE, "");
            this.argument = argument;
        }

        /** Returns the number that the program has written. C: {@code param.arg}. */
        public long argument() {
            return argument;
        }
    }

    // ---- the properties of all events

    /** Returns the type of the event. */
    public final Type type() {
        return type;
    }

    /**
     * Returns the status: 0, or a negative {@link Errno#number}. For {@link Type#REJECTED} it is the positive number of
     * the reason. For {@link Type#UNREACHABLE} of a datagram service it may be the positive status of the peer's
     * refusal.
     */
    public final int status() {
        return status;
    }

    /**
     * Returns the identifier. For {@link Type#CONNECT_REQUEST} it is the new identifier, with the listener's context.
     *
     * @throws IllegalStateException if no event channel has queued the event
     */
    public final CmId id() {
        return delivered(id);
    }

    /**
     * Returns the peer's parameters from the perspective of this side. The peer's initiator depth is returned as
     * responder resources and vice versa. All values are zero if the event carries no parameters.
     */
    public final ConnectionParameters connection() {
        return connection;
    }

    /**
     * Returns a copy of the peer's private data, or an empty array if the event carries no data. The array is the
     * message's whole field, zero-padded: 56 bytes for a connection request, 196 for an acceptance, 148 for a
     * rejection.
     */
    public final byte[] privateData() {
        return connection.privateData();
    }

    /**
     * Returns one or two sentences that explain a failure. They contain the addresses, the device, the GID, the name of
     * the reason, and a suggested remedy. Empty for events that do not report a failure.
     */
    public final String explanation() {
        return explanation;
    }

    /**
     * Returns the exception that a call throws if it waits for another event and receives this one. It is a {@link
     * ConnectionRejectedException}, an {@link RdmaTimeoutException} if the peer did not answer, a {@link
     * DisconnectedException}, or an {@link RdmaException} with the error of the status.
     *
     * @param operation the name of the call
     */
    public final RdmaException toException(String operation) {
        String details =
                explanation.isEmpty() ? type.text() + " was received, status " + status + ": " + id() : explanation;
        if (type == Type.UNREACHABLE && status > 0) { // a datagram service that was refused
            return new ConnectionRejectedException(operation, refusal().code(), privateData(), details);
        }
        Errno errno = status == 0 ? Errno.EINVAL : Errno.of(status);
        return switch (type) {
            case REJECTED -> new ConnectionRejectedException(operation, Math.max(0, status), privateData(), details);
            case DISCONNECTED -> new DisconnectedException(operation, details);
            default ->
                switch (errno) {
                    case ETIMEDOUT -> new RdmaTimeoutException(operation, details, "");
                    case ECONNRESET -> new DisconnectedException(operation, details);
                    default -> new RdmaException(operation, errno, details, "");
                };
        };
    }

    private RejectReason refusal() {
        return status == SERVICE_REJECTED ? RejectReason.CONSUMER_DEFINED : RejectReason.INVALID_SERVICE_ID;
    }

    /**
     * Acknowledges the event. Any thread may call this at any time, even after the identifier and the channel are
     * closed. Acknowledging the event again has no effect. C: {@code rdma_ack_cm_event}.
     */
    public final void acknowledge() {
        owner().events.onAcknowledged(counted);
    }

    /** Acknowledges the event, like {@link #acknowledge}. */
    @Override
    public final void close() {
        acknowledge();
    }

    @Override
    public final String toString() {
        String text = type.text() + ", status " + status + (id == null ? "" : ", " + id);
        return explanation.isEmpty() ? text : text + ": " + explanation;
    }

    // ---- for the event channel

    /** Sets the identifier, and the identifier that waits for the acknowledgement. Called once, before queueing. */
    CmEvent of(CmId newOwner, CmId newId) {
        owner = newOwner;
        id = newId;
        return this;
    }

    /** Replaces an event that a thread has taken, because processing it in the library has had another result. */
    CmEvent inPlaceOf(CmEvent taken) {
        counted = taken;
        return of(taken.owner(), taken.id());
    }

    /** Returns the identifier that waits for the acknowledgement: for a request, the listener. */
    final CmId owner() {
        return delivered(owner);
    }

    private static CmId delivered(@Nullable CmId known) {
        if (known == null) {
            throw new IllegalStateException("the event is not in an event channel");
        }
        return known;
    }
}
