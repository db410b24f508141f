package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.Req;
import org.jspecify.annotations.Nullable;

/** Handles connection requests for a service ID. Called from inside {@link CmAgent#onMad}; must not throw. */
public interface CmListener {
    /**
     * Returns whether this listener accepts a request. Several listeners may share a service ID, for example on
     * different local addresses. They are asked in registration order, and a request that none accepts is rejected with
     * reason 28, as Linux's rdma_cm does. Must not have side effects.
     *
     * <p>The agent has checked the addresses and the P_Key. Everything else in the request is unchecked: path MTU codes
     * from 0 to 15, any transport type, any private data.
     *
     * @param route destination (local) and source (remote) address of the request
     * @param request the peer's request
     */
    boolean matches(CmRoute route, Req request);

    /**
     * Handles a new connection ({@code IB_CM_REQ_RECEIVED}). It may be accepted, rejected or destroyed in this call or
     * later.
     *
     * @param connection in state {@link CmState#REQ_RECEIVED}
     * @param request the request from the peer's perspective: its responder resources limit our initiator depth
     * @return listener for the connection's events; or null to drop the request and forget the connection, so that the
     *     peer retransmits the request. Also null if this method has rejected the connection
     */
    @Nullable
    CmEvents onRequest(CmConnection connection, Req request);
}
