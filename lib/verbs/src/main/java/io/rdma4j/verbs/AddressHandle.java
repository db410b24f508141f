package io.rdma4j.verbs;

/**
 * A validated destination of datagrams, for any number of work requests of all datagram queue pairs of its protection
 * domain. C: {@code struct ibv_ah}. Thread safe.
 *
 * <p>Work requests posted before it is closed are still sent to it.
 */
public interface AddressHandle extends AutoCloseable {
    /** Returns the protection domain of this handle. */
    ProtectionDomain protectionDomain();

    /** Returns the address vector from which it was created. */
    AddressVector addressVector();

    /** Closes the handle. Work requests can no longer be posted with it. C: {@code ibv_destroy_ah}. */
    @Override
    void close();
}
