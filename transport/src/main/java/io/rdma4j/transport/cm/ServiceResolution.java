package io.rdma4j.transport.cm;

import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;

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
    private final ServiceEvents events;
    private final Outbox.Outgoing request;
    private long waitNanos;
    private long giveUpNanos;
    private boolean hasEnded;

    ServiceResolution(CmAgent agent, CmRoute route, SidrReq message, ServiceEvents events) {
        this.agent = agent;
        this.route = route;
        this.message = message;
        this.events = events;
        request = Outbox.Outgoing.of(message, LOCAL_TRANSACTION | message.requestId() & 0xffff_ffffL, route, 0, 0);
    }

    /** Returns the local and the remote address. */
    public CmRoute route() {
        return route;
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
        end();
    }

    void start(long nowNanos) {
        long interval = Timers.cmTimeoutNanos(RESPONSE_TIMEOUT);
        giveUpNanos = nowNanos + (RETRIES + 1) * interval;
        waitNanos = Math.min(agent.configuration().firstRetransmitNanos(), interval);
        send(nowNanos);
    }

    private void send(long nowNanos) {
        agent.outbox.send(request);
        agent.deadlines.schedule(this, Math.min(nowNanos + waitNanos, giveUpNanos));
        waitNanos = Math.min(2 * waitNanos, Timers.cmTimeoutNanos(RESPONSE_TIMEOUT));
    }

    @Override
    void onDeadline(long nowNanos) {
        if (nowNanos < giveUpNanos) {
            agent.counters().retransmissions++;
            send(nowNanos);
        } else {
            agent.counters().unreachable++;
            end();
            events.onUnreachable(this);
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
        events.onReply(this, reply);
    }

    private void end() {
        if (!hasEnded) {
            hasEnded = true;
            agent.deadlines.schedule(this, Long.MAX_VALUE);
            agent.services.remove(this);
        }
    }
}
