package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.SidrRep;

/**
 * An event of a {@link CmAgent}, returned by {@link CmAgent#pollEvent}. Immutable; its message is the peer's.
 *
 * <p>An event describes what happened when the agent processed its input. If the events of an input are not polled
 * before the next one, or if one message causes two events, the state of the connection may be a later one by the time
 * that the event is polled.
 */
public sealed interface AgentEvent {
    /** An event of a connection. After {@link CmConnection#destroy} only {@link TimewaitExit} and {@link Closed} follow. */
    sealed interface OfConnection extends AgentEvent {
        /** Returns the connection. */
        CmConnection connection();
    }

    /** An event of a service resolution. After {@link ServiceResolution#cancel} none follows. */
    sealed interface OfResolution extends AgentEvent {
        /** Returns the resolution. */
        ServiceResolution resolution();
    }

    /**
     * Passive: a peer requests a connection ({@code IB_CM_REQ_RECEIVED}). Answer it with {@link CmConnection#accept}, {@link
     * CmConnection#reject} or {@link CmConnection#destroy}, now or later; {@link CmConnection#request} has the message. The
     * connection is in {@link CmState#REQ_RECEIVED}, and in {@link CmState#MRA_REQ_SENT} from the next poll on.
     *
     * @param connection a new connection
     * @param service the listener that takes it
     */
    record Requested(CmConnection connection, ListenedService<Req> service) implements OfConnection {}

    /**
     * Active: the peer has accepted ({@code IB_CM_REP_RECEIVED}). Move the queue pair to ready-to-send, then call {@link
     * CmConnection#sendReadyToUse}; or {@link CmConnection#reject}. The connection is in {@link CmState#REP_RECEIVED}, and in
     * {@link CmState#MRA_REP_SENT} from the next poll on.
     *
     * @param connection the connection
     * @param reply the reply from the peer's perspective: its responder resources limit our initiator depth
     */
    record Replied(CmConnection connection, Rep reply) implements OfConnection {}

    /**
     * Passive: the connection is established, by RTU, by a DREQ that implies it, or by {@link
     * CmConnection#notifyCommunicationEstablished} ({@code IB_CM_RTU_RECEIVED}, {@code IB_CM_USER_ESTABLISHED}).
     */
    record ReadyToUse(CmConnection connection) implements OfConnection {}

    /**
     * The peer has rejected the connection or given up ({@code IB_CM_REJ_RECEIVED}). The connection is in {@link
     * CmState#IDLE}, or in {@link CmState#TIMEWAIT} if its packets may still be in flight.
     *
     * @param connection the connection
     * @param reject the reason and the private data
     */
    record Rejected(CmConnection connection, Rej reject) implements OfConnection {}

    /**
     * Passive: the backlog is full, and this request in it was withdrawn earlier ({@link Rejected}). Its place now belongs to the
     * request that {@link Requested} reports next. The owner should {@link CmConnection#destroy} it, unless the application
     * takes it at this moment.
     */
    record Discarded(CmConnection connection) implements OfConnection {}

    /**
     * The peer has not answered the REQ (active) or the REP (passive) after all retries ({@code IB_CM_REQ_ERROR}, {@code
     * IB_CM_REP_ERROR}). The connection is in {@link CmState#IDLE}.
     */
    record Unreachable(CmConnection connection) implements OfConnection {}

    /**
     * The peer requests to disconnect ({@code IB_CM_DREQ_RECEIVED}); {@link CmConnection#disconnect} replies. The connection
     * is in {@link CmState#DREQ_RECEIVED}.
     */
    record DisconnectRequested(CmConnection connection) implements OfConnection {}

    /**
     * The peer has replied to our DREQ, or all retries have timed out ({@code IB_CM_DREP_RECEIVED}, {@code
     * IB_CM_DREQ_ERROR}). The connection is in {@link CmState#TIMEWAIT}.
     *
     * @param connection the connection
     * @param timedOut {@code true} if the peer did not reply
     */
    record Disconnected(CmConnection connection, boolean timedOut) implements OfConnection {}

    /**
     * The time-wait is over, and the queue pair number may be reused ({@code IB_CM_TIMEWAIT_EXIT}). The connection is in
     * {@link CmState#IDLE}.
     */
    record TimewaitExit(CmConnection connection) implements OfConnection {}

    /**
     * The peer considers the connection established. If this process dies after this, another one should {@linkplain
     * CmAgent#disconnectAbandoned disconnect} it. Reported on both sides, in addition to other events.
     */
    record Opened(CmConnection connection) implements OfConnection {}

    /**
     * The peer of an {@linkplain Opened opened} connection no longer needs a DREQ: it has disconnected, has replied, or is
     * given up.
     */
    record Closed(CmConnection connection) implements OfConnection {}

    /**
     * A peer requests a datagram service ({@code IB_CM_SIDR_REQ_RECEIVED}). Complete it with {@link ServiceRequest#answer} or
     * {@link ServiceRequest#destroy}, now or later.
     */
    record ServiceRequested(ServiceRequest request) implements AgentEvent {}

    /**
     * The peer has replied to a service resolution ({@code IB_CM_SIDR_REP_RECEIVED}).
     *
     * @param resolution the resolution, which has ended
     * @param reply the reply; its status indicates whether the peer provides the service
     */
    record ServiceReplied(ServiceResolution resolution, SidrRep reply) implements OfResolution {}

    /** The peer has not replied to any retransmission of a service resolution ({@code IB_CM_SIDR_REQ_ERROR}). */
    record ServiceUnreachable(ServiceResolution resolution) implements OfResolution {}
}
