package io.rdma4j.transport.cm;

import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the queue pair that provides a datagram service at a peer; created by {@link CmAgent#resolve}. Corresponds
 * to a kernel {@code ib_cm_id} that sent a SIDR_REQ. Like the agent, not thread safe.
 *
 * <p>The request is retransmitted in the same way as a REQ. Linux sends it 16 times, 4.1 seconds apart.
 *
 * <p>Source: InfiniBand Architecture volume 1, 12.11.
 */
public final class ServiceResolution extends DeadlineEntry {
    /** Exponent of the peer's response timeout that Linux assumes: 4.1 seconds. */
    private static final int RESPONSE_TIMEOUT = 20;

    /** Number of retransmissions in Linux. */
    private static final int RETRIES = 15;

    private static final long LOCAL_TRANSACTION = 1L << 32;

    private final CmAgent agent;
    private final CmRoute route;
    private final SidrReq message;
    private final Object attachment;
    private @Nullable UnansweredMessage request;
    private boolean hasEnded;
    private boolean isCancelled;

    ServiceResolution(CmAgent agent, CmRoute route, SidrReq message, Object attachment) {
        this.agent = agent;
        this.route = route;
        this.message = message;
        this.attachment = attachment;
    }

    /** Returns the local and the remote address. */
    public CmRoute route() {
        return route;
    }

    /** Returns the owner's object, given to {@link CmAgent#resolve}. */
    public Object attachment() {
        return attachment;
    }

    /** Returns the local request ID; never 0. */
    public int requestId() {
        return message.requestId();
    }

    /** Returns whether the resolution has been answered, has failed or was cancelled. */
    public boolean hasEnded() {
        return hasEnded;
    }

    /** Cancels the resolution; no event follows. */
    public void cancel() {
        isCancelled = true;
        end();
    }

    boolean isCancelled() {
        return isCancelled;
    }

    void start(long nowNanos) {
        CmDatagram datagram = CmDatagram.of(message, LOCAL_TRANSACTION | message.requestId() & 0xffff_ffffL, route, 0);
        UnansweredMessage started = new UnansweredMessage(
                datagram,
                nowNanos,
                agent.configuration().firstRetransmitNanos(),
                Timers.cmTimeoutNanos(RESPONSE_TIMEOUT),
                RETRIES + 1,
                Long.MAX_VALUE);
        request = started;
        send(nowNanos, started);
    }

    private void send(long nowNanos, UnansweredMessage unanswered) {
        agent.outbox.send(unanswered.datagram());
        agent.deadlines.schedule(this, unanswered.nextNanos(nowNanos));
        unanswered.backOff();
    }

    @Override
    void onDeadline(long nowNanos) {
        if (request != null && !request.isOver(nowNanos)) {
            agent.counters().retransmissions++;
            send(nowNanos, request);
        } else {
            agent.counters().unreachable++;
            end();
            agent.events.add(new AgentEvent.ServiceUnreachable(this));
        }
    }

    /** Handles a reply to this request. */
    void onReply(CmRoute from, SidrRep reply) {
        boolean isForeign =
                !agent.configuration().allowForeignAddresses() && !from.remote().equals(route.remote());
        if (isForeign) {
            agent.counters().foreignMessagesDropped++;
            return;
        }
        end();
        agent.events.add(new AgentEvent.ServiceReplied(this, reply));
    }

    private void end() {
        if (!hasEnded) {
            hasEnded = true;
            agent.deadlines.schedule(this, Long.MAX_VALUE);
            agent.services.remove(this);
        }
    }
}
