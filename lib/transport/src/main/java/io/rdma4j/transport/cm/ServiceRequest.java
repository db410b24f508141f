package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import org.jspecify.annotations.Nullable;

/**
 * A peer's request for a datagram service, as seen by the service. Corresponds to a kernel {@code ib_cm_id} that
 * received a SIDR_REQ. Like the agent, not thread safe.
 *
 * <p>A reply is remembered for a while, so that a peer that retransmits its request because the reply was lost receives
 * the same one. (Linux discards the reply immediately and asks its application again.)
 */
public final class ServiceRequest {
    private final ServiceTable table;
    private final CmRoute route;
    private final SidrReq message;
    private final long transaction;
    private final ListenedService<SidrReq> service;
    private final RequestRateLimits.Source source;
    private @Nullable CmDatagram answer;
    private boolean isInBacklog = true;

    ServiceRequest(
            ServiceTable table,
            CmRoute route,
            SidrReq message,
            long transaction,
            ListenedService<SidrReq> service,
            RequestRateLimits.Source source) {
        this.table = table;
        this.route = route;
        this.message = message;
        this.transaction = transaction;
        this.service = service;
        this.source = source;
        service.enterBacklog();
        table.onWaiting(source);
    }

    /** Returns the local and the remote address. */
    public CmRoute route() {
        return route;
    }

    /** Returns the listener that takes the request. */
    public ListenedService<SidrReq> service() {
        return service;
    }

    /** Returns the peer's request. */
    public SidrReq message() {
        return message;
    }

    /** Returns whether the request has been answered. */
    public boolean isAnswered() {
        return answer != null;
    }

    /**
     * Sends the reply ({@code ib_send_cm_sidr_rep}).
     *
     * @param nowNanos current time
     * @param status {@link SidrRep#STATUS_VALID}, or the reason why the service is not provided
     * @param queuePair number of the serving queue pair, 24 bits
     * @param queueKey its queue key
     * @param privateData at most 136 bytes
     * @throws IllegalArgumentException if there is more private data
     * @throws IllegalStateException if the request has already been answered
     */
    public void answer(long nowNanos, int status, int queuePair, int queueKey, PrivateData privateData) {
        if (answer != null) {
            throw new IllegalStateException("a request for service 0x" + Long.toHexString(message.serviceId())
                    + " from " + route.remote().addressText() + " has been answered already");
        }
        SidrRep reply = SidrRep.of(message.requestId(), status, queuePair, message.serviceId(), queueKey, privateData);
        CmDatagram outgoing = CmDatagram.of(reply, transaction, route, 0);
        answer = outgoing;
        releaseBacklog();
        table.answered(nowNanos, this, source);
        table.outbox().send(outgoing);
    }

    /** Removes the request from the backlog, because the owner has seen it. */
    public void releaseBacklog() {
        if (isInBacklog) {
            isInBacklog = false;
            service.leaveBacklog();
        }
    }

    /** Releases the request. An unanswered one is rejected, as in Linux. */
    public void destroy(long nowNanos) {
        if (answer == null) {
            answer(nowNanos, SidrRep.STATUS_REJECTED, 0, 0, PrivateData.EMPTY);
        }
    }

    /** Retransmits the reply for a duplicate request. */
    void onDuplicate() {
        CmDatagram sent = answer;
        if (sent != null) {
            var _ = table.outbox().sendResponse(sent);
        }
    }
}
