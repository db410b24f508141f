package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;

/**
 * Decides which requests a listener takes.
 *
 * <p>The agent asks during {@link CmAgent#onMad}, because its response depends on the verdict. An implementation must not
 * throw, have side effects, or call the agent.
 *
 * @param <M> the request: a REQ, or a SIDR_REQ for a datagram service
 */
@FunctionalInterface
public interface RequestFilter<M extends CmMessage> {
    /** The verdict of a listener about a request. */
    enum Verdict {
        /** Creates the object of the request and reports it. */
        TAKE,
        /**
         * Leaves the request to the next listener. If there is none, it is rejected with reason 28, as by Linux's rdma_cm.
         */
        DECLINE,
        /** Drops the request as if it had not arrived, so that the peer retransmits it. */
        DROP,
        /** Rejects a REQ because its path MTU cannot be carried here. */
        INVALID_PATH_MTU
    }

    /**
     * Returns the verdict about a request. Several listeners may share a service ID, for example on different local
     * addresses. They are asked in registration order until one does not decline.
     *
     * <p>The agent has checked the addresses and the P_Key. Everything else in the request is unchecked: path MTU codes
     * from 0 to 15, any transport type, any private data.
     *
     * @param route destination (local) and source (remote) address of the request
     * @param request the peer's request
     */
    Verdict verdict(CmRoute route, M request);
}
