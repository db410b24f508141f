package io.rdma4j.verbs;

/**
 * Where datagrams go: a destination that was checked once and may be used by many work requests, of all datagram queue
 * pairs of its protection domain. C: {@code struct ibv_ah}. Thread safe.
 *
 * <p>Work requests that were posted before it is closed still go there.
 */
public interface AddressHandle extends AutoCloseable {
    /** The protection domain it belongs to. */
    ProtectionDomain protectionDomain();

    /** What it was made of. */
    AddressVector addressVector();

    /** Closes the handle; work requests can no longer be posted with it. C: {@code ibv_destroy_ah}. */
    @Override
    void close();
}
