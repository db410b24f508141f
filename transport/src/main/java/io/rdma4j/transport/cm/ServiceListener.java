package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.SidrReq;

/** Handles requests for a datagram service. Called from inside {@link CmAgent#onMad}; must not throw. */
public interface ServiceListener {
    /**
     * Returns whether this listener accepts a request. Listeners that share a service ID are asked in registration
     * order; a request that none accepts is rejected. Must not have side effects.
     *
     * @param route destination (local) and source (remote) address of the request
     * @param message the request, with arbitrary private data
     */
    boolean matches(CmRoute route, SidrReq message);

    /**
     * Handles a request ({@code IB_CM_SIDR_REQ_RECEIVED}), which may be answered in this call or later.
     *
     * @param request to be completed with {@link ServiceRequest#answer} or {@link ServiceRequest#destroy}
     * @param message the request's content
     * @return {@code false} to drop the request as if it had not arrived; the peer retransmits it
     */
    boolean onRequest(ServiceRequest request, SidrReq message);
}
