package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import org.jspecify.annotations.Nullable;

/**
 * A peer's question for a datagram service, as the service sees it. Corresponds to a kernel {@code ib_cm_id} that took a
 * SIDR_REQ. As the agent, not thread safe.
 *
 * <p>An answer is remembered for a while, so that the peer gets the same one when it asks again because the answer was
 * lost. (Linux forgets at once and asks its application again.)
 */
public final class ServiceRequest {
    private final ServiceTable table;
    private final CmRoute route;
    private final SidrReq message;
    private final long transaction;
    private final ListenedDatagramService listening;
    private Outbox.@Nullable Outgoing answer;
    private boolean inBacklog = true;

    ServiceRequest(
            ServiceTable table, CmRoute route, SidrReq message, long transaction, ListenedDatagramService listening) {
        this.table = table;
        this.route = route;
        this.message = message;
        this.transaction = transaction;
        this.listening = listening;
        listening.enter();
    }

    /** The two ends. */
    public CmRoute route() {
        return route;
    }

    /** What the peer asks. */
    public SidrReq message() {
        return message;
    }

    /** Whether it was answered. */
    public boolean isAnswered() {
        return answer != null;
    }

    /**
     * Answers ({@code ib_send_cm_sidr_rep}).
     *
     * @param nowNanos the time
     * @param status {@link SidrRep#STATUS_VALID}, or why there is no service
     * @param queuePair number of the serving queue pair, 24 bits
     * @param queueKey its key
     * @param privateData at most 136 bytes
     * @throws IllegalArgumentException if there is more private data
     * @throws IllegalStateException if it was answered before
     */
    public void answer(long nowNanos, int status, int queuePair, int queueKey, PrivateData privateData) {
        if (answer != null) {
            throw new IllegalStateException("a request for service 0x" + Long.toHexString(message.serviceId())
                    + " from " + route.remote() + " is answered already");
        }
        SidrRep reply = SidrRep.of(message.requestId(), status, queuePair, message.serviceId(), queueKey, privateData);
        Outbox.Outgoing made = Outbox.Outgoing.of(reply, transaction, route, 0, 0);
        answer = made;
        releaseBacklog();
        table.answered(nowNanos, this);
        table.outbox().send(made);
    }

    /** The owner has seen the request: it counts no more against the backlog. */
    public void releaseBacklog() {
        if (inBacklog) {
            inBacklog = false;
            listening.leave();
        }
    }

    /** The owner goes away: a request that is not answered is rejected, as in Linux. */
    public void destroy(long nowNanos) {
        if (answer == null) {
            answer(nowNanos, SidrRep.STATUS_REJECTED, 0, 0, PrivateData.EMPTY);
        }
    }

    /** The peer has asked again. */
    void onDuplicate() {
        Outbox.Outgoing given = answer;
        if (given != null) {
            var _ = table.outbox().answer(given);
        }
    }
}
