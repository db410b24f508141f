package io.rdma4j.cm;

/**
 * Decides who may connect to a listener, before anything is kept of a request: the peer of one that is refused sees {@code
 * REJECTED} with reason 28, as if the application had said no, and this side sees nothing. See {@link
 * CmId#setAccessFilter}.
 *
 * <p>Called for each request by whatever thread drives the device, under its lock: it must be quick, must not wait, and must not
 * call RDMA. Where it throws, the request is refused. The source is the address that the packet came from, and no better
 * protected than addresses are in that network; see SECURITY.md.
 */
@FunctionalInterface
public interface AccessFilter {
    /** Whether a request is offered to the listener. */
    boolean mayConnect(ConnectionAttempt attempt);
}
