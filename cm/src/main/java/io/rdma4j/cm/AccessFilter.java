package io.rdma4j.cm;

/**
 * Decides which peers may connect to a listener, before any state is kept for a request. The peer of a refused request
 * receives {@code REJECTED} with reason 28, as if the application had rejected it. The local side receives no event.
 * See {@link CmId#setAccessFilter}.
 *
 * <p>The filter is called for each request by the thread that drives the device, under the device's lock. It must be
 * fast, must not block, and must not call RDMA methods. If it throws an
 * exception or an {@link Error}, the request is refused. The source is the address
 * that the packet came from. It is only as trustworthy as addresses are in that network; see SECURITY.md.
 */
@FunctionalInterface
public interface AccessFilter {
    /** Returns whether the request is passed to the listener. */
    boolean mayConnect(ConnectionAttempt attempt);
}
