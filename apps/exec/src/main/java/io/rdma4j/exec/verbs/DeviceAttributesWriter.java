package io.rdma4j.exec.verbs;

import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.DeviceLimits;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedDeviceLimits;
import java.util.Set;

/** Writes the attributes of a device into the part of {@code struct ibv_device_attr_ex} that the program knows. */
final class DeviceAttributesWriter {
    private static final int FIRMWARE_BYTES = 64;

    private final long target;
    private final long sizeBytes;

    private DeviceAttributesWriter(long target, long sizeBytes) {
        this.target = target;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Writes attributes.
     *
     * @param target the address of the structure, which is zeroed
     * @param sizeBytes its size in the program, at least the size of {@code struct ibv_device_attr}
     */
    static void write(DeviceAttributes attributes, long target, long sizeBytes) {
        DeviceAttributesWriter writer = new DeviceAttributesWriter(target, sizeBytes);
        writer.writeIdentity(attributes);
        writer.writeLimits(attributes);
        writer.writeGroupLimits(attributes);
        writer.writeExtensions(attributes);
    }

    private void putInt(int at, int value) {
        if (at + Integer.BYTES <= sizeBytes) {
            Native.putInt(target + at, value);
        }
    }

    private void putLong(int at, long value) {
        if (at + Long.BYTES <= sizeBytes) {
            Native.putLong(target + at, value);
        }
    }

    private void writeIdentity(DeviceAttributes from) {
        DeviceCalls.writeText(target + DeviceLimits.FIRMWARE_VERSION, from.firmwareVersion(), FIRMWARE_BYTES);
        putLong(DeviceLimits.NODE_GUID, Long.reverseBytes(from.nodeGuid()));
        putLong(DeviceLimits.SYSTEM_IMAGE_GUID, Long.reverseBytes(from.systemImageGuid()));
        putInt(DeviceLimits.VENDOR_ID, from.vendorId());
        putInt(DeviceLimits.VENDOR_PART_ID, from.vendorPartId());
        putInt(DeviceLimits.HARDWARE_VERSION, from.hardwareVersion());
        putInt(DeviceLimits.CAPABILITIES, (int) from.capabilityBits());
        putInt(DeviceLimits.ATOMIC_CAPABILITY, from.atomicCapability().code());
        Native.putByte(target + DeviceLimits.LOCAL_ACK_DELAY, (byte) from.localAckDelay());
        Native.putByte(target + DeviceLimits.PORTS, (byte) from.ports());
    }

    private void writeLimits(DeviceAttributes from) {
        putLong(DeviceLimits.MAX_REGION_BYTES, from.maxMemoryRegionBytes());
        putLong(DeviceLimits.PAGE_SIZES, from.pageSizes());
        putInt(DeviceLimits.MAX_QUEUE_PAIRS, from.maxQueuePairs());
        putInt(DeviceLimits.MAX_QUEUE_PAIR_WORK_REQUESTS, from.maxQueuePairWorkRequests());
        putInt(DeviceLimits.MAX_SCATTER_GATHER, from.maxScatterGather());
        putInt(DeviceLimits.MAX_READ_SCATTER_GATHER, from.maxReadScatterGather());
        putInt(DeviceLimits.MAX_COMPLETION_QUEUES, from.maxCompletionQueues());
        putInt(DeviceLimits.MAX_COMPLETION_QUEUE_ENTRIES, from.maxCompletionQueueEntries());
        putInt(DeviceLimits.MAX_REGIONS, from.maxMemoryRegions());
        putInt(DeviceLimits.MAX_WINDOWS, from.maxMemoryWindows());
        putInt(DeviceLimits.MAX_PROTECTION_DOMAINS, from.maxProtectionDomains());
        putInt(DeviceLimits.MAX_SHARED_RECEIVE_QUEUES, from.maxSharedReceiveQueues());
        putInt(DeviceLimits.MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS, from.maxSharedReceiveQueueWorkRequests());
        putInt(DeviceLimits.MAX_SHARED_RECEIVE_QUEUE_SCATTER_GATHER, from.maxSharedReceiveQueueScatterGather());
        putInt(DeviceLimits.MAX_READ_ATOMIC, from.maxReadAtomicPerQueuePair());
        putInt(DeviceLimits.MAX_RESPONDER_RESOURCES, from.maxResponderResources());
        putInt(DeviceLimits.MAX_INITIATED_READ_ATOMIC, from.maxInitiatedReadAtomicPerQueuePair());
    }

    private void writeGroupLimits(DeviceAttributes from) {
        putInt(DeviceLimits.MAX_MULTICAST_GROUPS, from.maxMulticastGroups());
        putInt(DeviceLimits.MAX_MULTICAST_QUEUE_PAIRS, from.maxMulticastQueuePairs());
        putInt(DeviceLimits.MAX_MULTICAST_ATTACHMENTS, from.maxMulticastAttachments());
        putInt(DeviceLimits.MAX_ADDRESS_HANDLES, from.maxAddressHandles());
        Native.putShort(target + DeviceLimits.MAX_PARTITION_KEYS, (short) from.maxPartitionKeys());
    }

    private void writeExtensions(DeviceAttributes from) {
        if (from.hasOnDemandPaging()) {
            putLong(ExtendedDeviceLimits.ON_DEMAND, Flags.ON_DEMAND_PAGING);
        }
        writeOnDemand(ExtendedDeviceLimits.ON_DEMAND_RELIABLE_CONNECTIONS, from, QueuePairType.RELIABLE_CONNECTION);
        writeOnDemand(ExtendedDeviceLimits.ON_DEMAND_UNRELIABLE_CONNECTIONS, from, QueuePairType.UNRELIABLE_CONNECTION);
        writeOnDemand(ExtendedDeviceLimits.ON_DEMAND_DATAGRAMS, from, QueuePairType.UNRELIABLE_DATAGRAM);
        writeOnDemand(ExtendedDeviceLimits.ON_DEMAND_EXTENDED_CONNECTIONS, from, QueuePairType.XRC_SEND);
        putLong(ExtendedDeviceLimits.COMPLETION_TIMESTAMP_MASK, from.completionTimestampMask());
        putLong(ExtendedDeviceLimits.CLOCK_KILOHERTZ, from.clockKilohertz());
        putLong(ExtendedDeviceLimits.CAPABILITIES, from.capabilityBits());
        putInt(ExtendedDeviceLimits.PORTS, from.ports());
    }

    private void writeOnDemand(int at, DeviceAttributes from, QueuePairType type) {
        int bits = 0;
        Set<OnDemandOperation> operations = from.onDemandOperations(type);
        for (OnDemandOperation operation : operations) {
            bits |= operation.bit();
        }
        putInt(at, bits);
    }
}
