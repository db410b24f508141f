package io.rdma4j.verbs;

/**
 * What a device can do at most. C: {@code struct ibv_device_attr}.
 *
 * @param firmwareVersion version text of the device's software
 * @param nodeGuid identifier of the node
 * @param systemImageGuid identifier of the system
 * @param vendorId vendor number
 * @param vendorPartId part number
 * @param maxMemoryRegionBytes most bytes of one memory region
 * @param maxQueuePairs most queue pairs
 * @param maxQueuePairWorkRequests most work requests of one queue
 * @param maxScatterGather most pieces of one work request
 * @param maxCompletionQueues most completion queues
 * @param maxCompletionQueueEntries most entries of one completion queue
 * @param maxMemoryRegions most memory regions
 * @param maxMemoryWindows most memory windows
 * @param maxProtectionDomains most protection domains
 * @param maxSharedReceiveQueues most shared receive queues
 * @param maxSharedReceiveQueueWorkRequests most receives of one shared receive queue
 * @param maxSharedReceiveQueueScatterGather most pieces of one receive of a shared receive queue
 * @param maxReadAtomicPerQueuePair most READs and atomics of the peer that one queue pair serves at a time
 * @param maxInitiatedReadAtomicPerQueuePair most READs and atomics that one queue pair has under way
 * @param maxInlineBytes most bytes of one inline work request
 * @param localAckDelay exponent of the longest delay of an acknowledgement, 4.096 µs × 2<sup>n</sup>
 * @param ports number of ports
 */
public record DeviceAttributes(
        String firmwareVersion,
        long nodeGuid,
        long systemImageGuid,
        int vendorId,
        int vendorPartId,
        long maxMemoryRegionBytes,
        int maxQueuePairs,
        int maxQueuePairWorkRequests,
        int maxScatterGather,
        int maxCompletionQueues,
        int maxCompletionQueueEntries,
        int maxMemoryRegions,
        int maxMemoryWindows,
        int maxProtectionDomains,
        int maxSharedReceiveQueues,
        int maxSharedReceiveQueueWorkRequests,
        int maxSharedReceiveQueueScatterGather,
        int maxReadAtomicPerQueuePair,
        int maxInitiatedReadAtomicPerQueuePair,
        int maxInlineBytes,
        int localAckDelay,
        int ports) {}
