package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An event of an identifier. C: {@code struct rdma_cm_event}. Thread safe.
 *
 * <p>Every event must be acknowledged once, by {@link #acknowledge} or {@link #close}. {@link CmId#close} and {@link
 * CmId#migrate} wait for the acknowledgement, except for events that the calling thread itself took. The data of an
 * event stay available after the acknowledgement, and after its identifier is closed.
 */
public final class CmEvent implements AutoCloseable {
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
         * Passive side: a peer requests a connection. {@link #id} is a new identifier, {@link #listenId} the listener.
         */
        CONNECT_REQUEST(4, "RDMA_CM_EVENT_CONNECT_REQUEST"),
        /**
         * Active side, only without a queue pair of the identifier: the peer has accepted. The application must call
         * {@link CmId#establish}.
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
         * The multicast group is joined, and {@link CmEvent#datagram} holds the parameters for sending to it. The
         * identifier's queue pair is attached to the group, unless the identifier joined to send only.
         */
        MULTICAST_JOIN(12, "RDMA_CM_EVENT_MULTICAST_JOIN"),
        /**
         * Joining a multicast group failed, or the queue pair could not be attached to it. The status is a negative
         * errno.
         */
        MULTICAST_ERROR(13, "RDMA_CM_EVENT_MULTICAST_ERROR"),
        /**
         * The local address was removed from the device, or the hardware address of the network interface changed, as
         * when a bond fails over. Connections may no longer work. This is a hint; no connection is ended.
         */
        ADDRESS_CHANGE(14, "RDMA_CM_EVENT_ADDR_CHANGE"),
        /** The time-wait state has ended, and the queue pair number may be reused. */
        TIMEWAIT_EXIT(15, "RDMA_CM_EVENT_TIMEWAIT_EXIT"),
        /** The address lookup is complete, and {@link CmId#queryAddressInformation} returns its result. */
        ADDRESS_INFORMATION_RESOLVED(16, "RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
        /** The address lookup failed. The status is a negative errno. The application may retry. */
        ADDRESS_INFORMATION_ERROR(17, "RDMA_CM_EVENT_ADDRINFO_ERROR"),
        /** Written by the application with {@link CmId#writeEvent}. C has no name for this type. */
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

    /** The status of a refused datagram service that says that the peer's program rejected the request. */
    private static final int SERVICE_REJECTED = 2;

    private final Type type;
    private final ProviderEvent providerEvent;
    private final EventChannel.Pending pending;

    /** Creates the event of a provider's event. */
    CmEvent(EventChannel.Pending pending) {
        this(pending, pending.event().type(), pending.event());
    }

    /** Creates an event that replaces a provider's event, because of the outcome of the library's part of it. */
    CmEvent(EventChannel.Pending pending, Type type, ProviderEvent providerEvent) {
        this.type = type;
        this.providerEvent = providerEvent;
        this.pending = pending;
    }

    /** Returns the type of the event. */
    public Type type() {
        return type;
    }

    /**
     * Returns the status: 0, a negative {@link Errno#number}, for {@link Type#REJECTED} the positive number of the reason, or for
     * {@link Type#UNREACHABLE} of a datagram service the positive status with which the peer refused it.
     */
    public int status() {
        return providerEvent.status();
    }

    /**
     * Returns the identifier. For {@link Type#CONNECT_REQUEST} it is the new one, whose context is that of the
     * listener.
     */
    public CmId id() {
        return pending.id();
    }

    /** Returns the listening identifier for {@link Type#CONNECT_REQUEST}, else null. */
    public @Nullable CmId listenId() {
        return type == Type.CONNECT_REQUEST ? pending.owner() : null;
    }

    /**
     * Returns the peer's parameters from the perspective of this side: the peer's initiator depth appears as responder
     * resources and vice versa. All values are zero if the event carries no parameters.
     */
    public ConnectionParameters connection() {
        return providerEvent.connection();
    }

    /**
     * Returns the parameters for sending to the datagram service or multicast group, or null if the event carries none.
     */
    public @Nullable DatagramParameters datagram() {
        return providerEvent.datagram();
    }

    /** Returns the argument of a {@link Type#USER} event, else 0. C: {@code param.arg}. */
    public long argument() {
        return providerEvent.argument();
    }

    /**
     * Returns the context passed to the join for {@link Type#MULTICAST_JOIN} and {@link Type#MULTICAST_ERROR}, else
     * null. C: {@code param.ud.private_data}.
     */
    public @Nullable Object multicastContext() {
        return MulticastMemberships.contextOf(providerEvent);
    }

    /**
     * Returns a copy of the peer's private data, or an empty array if the event carries none. The array is the whole
     * field of the message, zero-padded: 56 bytes for a connection request, 196 for an acceptance, 148 for a rejection.
     */
    public byte[] privateData() {
        return providerEvent.connection().privateData();
    }

    /**
     * Returns one or two sentences that explain a failure: the addresses, device and GID, the reason by name, and a
     * suggested remedy. Empty for events that do not report a failure.
     */
    public String explanation() {
        return providerEvent.explanation();
    }

    /**
     * Returns the exception that a call throws if it waits for another event and receives this one: {@link
     * ConnectionRejectedException}, {@link RdmaTimeoutException} for a peer that did not answer, {@link DisconnectedException}, or
     * an {@link RdmaException} with the error of the status.
     *
     * @param operation the name of the call
     */
    public RdmaException toException(String operation) {
        String details = explanation().isEmpty()
                ? type.text() + " was received, status " + status() + ": " + pending.id()
                : explanation();
        if (type == Type.UNREACHABLE && status() > 0) { // a datagram service that was refused
            return new ConnectionRejectedException(operation, refusal().code(), privateData(), details);
        }
        Errno errno = status() == 0 ? Errno.EINVAL : Errno.of(status());
        return switch (type) {
            case REJECTED -> new ConnectionRejectedException(operation, Math.max(0, status()), privateData(), details);
            case DISCONNECTED -> new DisconnectedException(operation, details);
            default ->
                errno == Errno.ETIMEDOUT
                        ? new RdmaTimeoutException(operation, details, "")
                        : new RdmaException(operation, errno, details, "");
        };
    }

    private RejectReason refusal() {
        return status() == SERVICE_REJECTED ? RejectReason.CONSUMER_DEFINED : RejectReason.INVALID_SERVICE_ID;
    }

    /**
     * Acknowledges the event. Any thread may do so, at any time, also after the identifier and the channel are closed.
     * Acknowledging it again has no effect. C: {@code rdma_ack_cm_event}.
     */
    public void acknowledge() {
        pending.owner().events.onAcknowledged(pending);
    }

    /** Acknowledges the event, like {@link #acknowledge}. */
    @Override
    public void close() {
        acknowledge();
    }

    @Override
    public String toString() {
        String text = type.text() + ", status " + providerEvent.status() + ", " + pending.id();
        return providerEvent.explanation().isEmpty() ? text : text + ": " + providerEvent.explanation();
    }
}
