package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.SidrRep;

/** What becomes of a {@link ServiceResolution}. Called from inside the agent; must not throw. Exactly one call comes. */
public interface ServiceEvents {
    /** The peer has answered ({@code IB_CM_SIDR_REP_RECEIVED}); {@link SidrRep#status} says whether it serves. */
    void onReply(ServiceResolution resolution, SidrRep reply);

    /** The peer was silent, all repetitions over ({@code IB_CM_SIDR_REQ_ERROR}). */
    void onUnreachable(ServiceResolution resolution);
}
