package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.SidrRep;

/** Receives the outcome of a {@link ServiceResolution}. Called exactly once, from inside the agent; must not throw. */
public interface ServiceEvents {
    /**
     * Called when the peer has replied ({@code IB_CM_SIDR_REP_RECEIVED}); {@link SidrRep#status} indicates whether it
     * provides the service.
     */
    void onReply(ServiceResolution resolution, SidrRep reply);

    /** Called when the peer has not replied to any retransmission ({@code IB_CM_SIDR_REQ_ERROR}). */
    void onUnreachable(ServiceResolution resolution);
}
