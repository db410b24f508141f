package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.SidrReq;

/** Takes the requests for a datagram service. Called from inside {@link CmAgent#onMad}; must not throw. */
public interface ServiceListener {
    /**
     * Whether this listener wants a request. Several may share a service ID and are asked in the order of their
     * registration; a request that none wants is rejected. Must not have effects.
     *
     * @param route where the request came from and was sent to
     * @param message what the peer asks: any private data
     */
    boolean matches(CmRoute route, SidrReq message);

    /**
     * A request ({@code IB_CM_SIDR_REQ_RECEIVED}). It may be answered here or later.
     *
     * @param request to be answered by {@link ServiceRequest#answer} or {@link ServiceRequest#destroy}
     * @param message what the peer asks
     * @return false to drop the request without an answer, as if it had not come: the peer sends it again
     */
    boolean onRequest(ServiceRequest request, SidrReq message);
}
