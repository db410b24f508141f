package io.rdma4j;

import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.verbs.AddressVector;

/**
 * The destination of datagrams, for {@link Datagrams#send}. {@link Datagrams#resolve} returns a peer's destination, {@link
 * Datagram#sender} a sender's, and {@link Membership#group} a group's. Immutable; the datagrams of one sender have equal
 * destinations.
 *
 * @param path the path to the host or group
 * @param queuePairNumber number of the receiving queue pair; {@code 0xFFFFFF} for a group
 * @param queueKey the key of the receiving queue pair
 */
public record Destination(AddressVector path, int queuePairNumber, int queueKey) {
    static Destination of(DatagramParameters parameters) {
        return new Destination(parameters.addressVector(), parameters.queuePairNumber(), parameters.queueKey());
    }

    @Override
    public String toString() {
        return "queue pair 0x%06x at %s".formatted(queuePairNumber, path.destination());
    }
}
