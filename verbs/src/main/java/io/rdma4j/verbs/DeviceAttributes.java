package io.rdma4j.verbs;

/**
 * The limits of a device. C: {@code struct ibv_device_attr}.
 *
 * @param firmwareVersion version text of the device's software
 * @param nodeGuid identifier of the node
 * @param systemImageGuid identifier of the system
 * @param vendorId vendor number
 * @param vendorPartId part number
 * @param maxMemoryRegionBytes maximum length in bytes of one memory region
 * @param maxQueuePairs maximum number of queue pairs
 * @param maxQueuePairWorkRequests maximum number of work requests of one queue
 * @param maxScatterGather maximum number of scatter/gather entries of one work request
 * @param maxCompletionQueues maximum number of completion queues
 * @param maxCompletionQueueEntries maximum number of entries of one completion queue
 * @param maxMemoryRegions maximum number of memory regions
 * @param maxMemoryWindows maximum number of memory windows
 * @param maxProtectionDomains maximum number of protection domains
 * @param maxSharedReceiveQueues maximum number of shared receive queues
 * @param maxSharedReceiveQueueWorkRequests maximum number of receives of one shared receive queue
 * @param maxSharedReceiveQueueScatterGather maximum number of scatter/gather entries of one receive of a shared receive
 *     queue
 * @param maxReadAtomicPerQueuePair maximum number of READs and atomics of the peer that one queue pair serves
 *     concurrently
 * @param maxInitiatedReadAtomicPerQueuePair maximum number of outstanding READs and atomics of one queue pair
 * @param maxInlineBytes maximum length in bytes of one inline work request
 * @param localAckDelay exponent of the maximum delay of an acknowledgement, 4.096 µs × 2<sup>n</sup>
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
