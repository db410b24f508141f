package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.Errno;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to an identifier. C: {@code struct rdma_cm_event}. Thread safe.
 *
 * <p>Every event must be acknowledged once, by {@link #acknowledge} or {@link #close}: {@link CmId#close} and {@link
 * CmId#migrate} wait for it, but for events that their own thread took.
 */
public final class CmEvent implements AutoCloseable {
    /** Kinds of events. C: {@code enum rdma_cm_event_type}. */
    public enum Type {
        /** The address is resolved: the identifier has a device. */
        ADDRESS_RESOLVED(0, "RDMA_CM_EVENT_ADDR_RESOLVED"),
        /** Address resolution failed; status is a negative errno. It may be tried again. */
        ADDRESS_ERROR(1, "RDMA_CM_EVENT_ADDR_ERROR"),
        /** The route is resolved. */
        ROUTE_RESOLVED(2, "RDMA_CM_EVENT_ROUTE_RESOLVED"),
        /** Route resolution failed; status is a negative errno. It may be tried again. */
        ROUTE_ERROR(3, "RDMA_CM_EVENT_ROUTE_ERROR"),
        /** Passive: a peer asks for a connection. {@link #id} is a new identifier, {@link #listenId} the listener. */
        CONNECT_REQUEST(4, "RDMA_CM_EVENT_CONNECT_REQUEST"),
        /** Active, only without a queue pair of the identifier: the peer accepted; {@link CmId#establish} is to follow. */
        CONNECT_RESPONSE(5, "RDMA_CM_EVENT_CONNECT_RESPONSE"),
        /** The peer accepted, but the queue pair could not be brought to ready-to-send. */
        CONNECT_ERROR(6, "RDMA_CM_EVENT_CONNECT_ERROR"),
        /** The peer did not answer in time; status is a negative errno. */
        UNREACHABLE(7, "RDMA_CM_EVENT_UNREACHABLE"),
        /** The peer rejected; status is the {@link RejectReason}. The queue pair is in the error state. */
        REJECTED(8, "RDMA_CM_EVENT_REJECTED"),
        /** Connected. */
        ESTABLISHED(9, "RDMA_CM_EVENT_ESTABLISHED"),
        /** Disconnected, by either side; status is a negative errno if the peer did not answer. */
        DISCONNECTED(10, "RDMA_CM_EVENT_DISCONNECTED"),
        /** The device has gone; the identifier must be closed. */
        DEVICE_REMOVAL(11, "RDMA_CM_EVENT_DEVICE_REMOVAL"),
        /**
         * The group is joined: {@link CmEvent#datagram} says how to send to it. The identifier's queue pair is attached to
         * it, unless it joined to send only.
         */
        MULTICAST_JOIN(12, "RDMA_CM_EVENT_MULTICAST_JOIN"),
        /** Joining a multicast group failed, or the queue pair could not be attached to it; status is a negative errno. */
        MULTICAST_ERROR(13, "RDMA_CM_EVENT_MULTICAST_ERROR"),
        /**
         * The local address has gone from the device, or the network interface got another hardware address, as in a bond
         * that fails over: connections may not go on. A hint; nothing is ended.
         */
        ADDRESS_CHANGE(14, "RDMA_CM_EVENT_ADDR_CHANGE"),
        /** The number of the queue pair may be used again. */
        TIMEWAIT_EXIT(15, "RDMA_CM_EVENT_TIMEWAIT_EXIT"),
        /** Addresses are looked up: {@link CmId#queryAddressInformation} has them. */
        ADDRESS_INFORMATION_RESOLVED(16, "RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
        /** Looking addresses up failed; status is a negative errno. It may be tried again. */
        ADDRESS_INFORMATION_ERROR(17, "RDMA_CM_EVENT_ADDRINFO_ERROR"),
        /** Written by the application: {@link CmId#writeEvent}. C has no name for it, as here. */
        USER(18, "UNKNOWN EVENT");

        private final int code;
        private final String text;

        Type(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /** The number of {@code enum rdma_cm_event_type}. */
        public int code() {
            return code;
        }

        /** The symbolic name in C. C: {@code rdma_event_str}. */
        public String text() {
            return text;
        }
    }

    private final Type type;
    private final ProviderEvent raw;
    private final CmId id;
    private final @Nullable CmId listenId;
    private final @Nullable Object multicastContext;
    private final AcknowledgementCount count;
    private final long taker = Thread.currentThread().threadId();
    private final AtomicBoolean acknowledged = new AtomicBoolean();

    private CmEvent(
            Type type,
            ProviderEvent raw,
            CmId id,
            @Nullable CmId listenId,
            @Nullable Object multicastContext,
            AcknowledgementCount count) {
        this.type = type;
        this.raw = raw;
        this.id = id;
        this.listenId = listenId;
        this.multicastContext = multicastContext;
        this.count = count;
    }

    /** What the provider reported, maybe as an event of another kind. */
    static CmEvent of(Type type, ProviderEvent raw, CmId id, AcknowledgementCount count) {
        return new CmEvent(type, raw, id, null, null, count);
    }

    /** A connection request that came to a listener. */
    static CmEvent ofRequest(ProviderEvent raw, CmId id, CmId listenId, AcknowledgementCount count) {
        return new CmEvent(raw.type(), raw, id, listenId, null, count);
    }

    /** The event of a multicast group; {@code context} is what it was joined with. */
    static CmEvent ofGroup(CmId id, ProviderEvent raw, @Nullable Object context, AcknowledgementCount count) {
        return new CmEvent(raw.type(), raw, id, null, context, count);
    }

    /** What happened. */
    public Type type() {
        return type;
    }

    /** 0, a negative {@link Errno#number}, or for {@link Type#REJECTED} the positive number of the reason. */
    public int status() {
        return raw.status();
    }

    /** The identifier; for {@link Type#CONNECT_REQUEST} the new one, whose context is that of the listener. */
    public CmId id() {
        return id;
    }

    /** For {@link Type#CONNECT_REQUEST} the listening identifier, else null. */
    public @Nullable CmId listenId() {
        return listenId;
    }

    /**
     * The peer's parameters, in the view of this side: the peer's initiator depth appears as responder resources and the
     * other way round. All zero where the event carries none.
     */
    public ConnectionParameters connection() {
        return raw.connection();
    }

    /** How to send to the datagram service or multicast group; null where the event brings no such thing. */
    public @Nullable DatagramParameters datagram() {
        return raw.datagram();
    }

    /** For {@link Type#USER} the number that it was written with, else 0. C: {@code param.arg}. */
    public long argument() {
        return raw.argument();
    }

    /**
     * For {@link Type#MULTICAST_JOIN} and {@link Type#MULTICAST_ERROR} the context that the group was joined with, else
     * null. C: {@code param.ud.private_data}.
     */
    public @Nullable Object multicastContext() {
        return multicastContext;
    }

    /**
     * The peer's private data: always the whole field of the message, zero padded (56 bytes with a connection request, 196
     * with an acceptance, 148 with a rejection), or empty where the event carries none.
     */
    public byte[] privateData() {
        return raw.connection().privateData();
    }

    /**
     * What happened, with addresses, device, GID and the reason by name, and what to try; one or two sentences. Empty for
     * events that are no failure.
     */
    public String explanation() {
        return raw.explanation();
    }

    /** Acknowledges the event; the second time does nothing. C: {@code rdma_ack_cm_event}. */
    public void acknowledge() {
        if (acknowledged.compareAndSet(false, true)) {
            count.acknowledged(taker);
        }
    }

    /** {@link #acknowledge}. */
    @Override
    public void close() {
        acknowledge();
    }

    @Override
    public String toString() {
        String text = type.text() + ", status " + raw.status() + ", " + id;
        return raw.explanation().isEmpty() ? text : text + ": " + raw.explanation();
    }
}
