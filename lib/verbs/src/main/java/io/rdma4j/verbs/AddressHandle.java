package io.rdma4j.verbs;

/**
 * A validated destination of datagrams. Any number of work requests can use it, on all datagram queue pairs of its
 * protection domain. C: {@code struct ibv_ah}. Thread safe.
 *
 * <p>Work requests that were posted before the handle is closed are still sent.
 */
public interface AddressHandle extends AutoCloseable {
    /** Returns the protection domain of this handle. */
    ProtectionDomain protectionDomain();

    /** Returns the address vector from which the handle was created. */
    AddressVector addressVector();

    /** Closes the handle. Work requests can no longer be posted with it. C: {@code ibv_destroy_ah}. */
    @Override
    void close();
}
