package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;

/**
 * The options of a run of rdma_xclient or rdma_xserver.
 *
 * @param endpoint the address and port of the server
 * @param extended {@code -c x}: true for an extended reliable connection (XRC), false for a reliable one
 */
record CommunicationOptions(EndpointOptions endpoint, boolean extended) {
    /** Returns the hints for resolving the server's address. */
    AddressInformation.Hints hints(QueuePairType extendedType, AddressInformation.Flag... flags) {
        return extended
                ? AddressInformation.Hints.of(PortSpace.IB, flags).withQueuePairType(extendedType)
                : AddressInformation.Hints.of(PortSpace.TCP, flags);
    }
}
