package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.Req;
import org.jspecify.annotations.Nullable;

/** Takes connection requests for a service ID. Called from inside {@link CmAgent#onMad}; must not throw. */
public interface CmListener {
    /**
     * Whether this listener wants a request. Several listeners may share a service ID, for example on different local
     * addresses; they are asked in the order of their registration, and a request that none wants is rejected with
     * reason 28 as Linux's rdma_cm does. Must not have effects.
     *
     * <p>The agent has checked the addresses and the P_Key. Everything else in the request is as the peer says: path MTU
     * codes from 0 to 15, any transport type, any private data.
     *
     * @param route where the request came from and was sent to
     * @param request what the peer asks
     */
    boolean matches(CmRoute route, Req request);

    /**
     * A new connection ({@code IB_CM_REQ_RECEIVED}). It may be accepted, rejected or destroyed here or later.
     *
     * @param connection in state {@link CmState#REQ_RECEIVED}
     * @param request what the peer asks, in its view: its responder resources bound our initiator depth
     * @return where the events of the connection go, or null to drop the request without an answer (the peer sends it
     *     again later) and forget the connection; also null where this method has rejected it
     */
    @Nullable
    CmEvents onRequest(CmConnection connection, Req request);
}
