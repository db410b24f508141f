package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.QueuePairType;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * The limits and features of a device. {@link DeviceContext#attributes} returns them; a provider creates them with a
 * {@link Builder}. C: {@code struct ibv_device_attr_ex}.
 */
public final class DeviceAttributes {
    private String firmwareVersion = "";
    private long nodeGuid;
    private long systemImageGuid;
    private int vendorId;
    private int vendorPartId;
    private int hardwareVersion;
    private long pageSizes;
    private long maxMemoryRegionBytes;
    private int maxQueuePairs;
    private int maxQueuePairWorkRequests;
    private int maxScatterGather;
    private int maxReadScatterGather;
    private int maxCompletionQueues;
    private int maxCompletionQueueEntries;
    private int maxMemoryRegions;
    private int maxMemoryWindows;
    private int maxProtectionDomains;
    private int maxSharedReceiveQueues;
    private int maxSharedReceiveQueueWorkRequests;
    private int maxSharedReceiveQueueScatterGather;
    private int maxReadAtomicPerQueuePair;
    private int maxResponderResources;
    private int maxInitiatedReadAtomicPerQueuePair;
    private int maxMulticastGroups;
    private int maxMulticastQueuePairs;
    private int maxMulticastAttachments;
    private int maxAddressHandles;
    private int maxPartitionKeys;
    private int maxInlineBytes;
    private int localAckDelay;
    private int ports;
    private long capabilityBits;
    private AtomicCapability atomicCapability = AtomicCapability.NONE;
    private boolean onDemandPaging;
    private long completionTimestampMask;
    private long clockKilohertz;
    private final Map<QueuePairType, Set<OnDemandOperation>> onDemandOperations = new EnumMap<>(QueuePairType.class);

    private DeviceAttributes() {}

    /** Returns a builder with empty strings and zeros. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the version of the device's firmware, as text. */
    public String firmwareVersion() {
        return firmwareVersion;
    }

    /** Returns the GUID of the node. */
    public long nodeGuid() {
        return nodeGuid;
    }

    /** Returns the GUID of the system. */
    public long systemImageGuid() {
        return systemImageGuid;
    }

    /** Returns the vendor ID. */
    public int vendorId() {
        return vendorId;
    }

    /** Returns the vendor's part ID. */
    public int vendorPartId() {
        return vendorPartId;
    }

    /** Returns the version number of the hardware. C: {@code ibv_device_attr.hw_ver}. */
    public int hardwareVersion() {
        return hardwareVersion;
    }

    /**
     * Returns the page sizes in bytes that the device can map, a bit for each power of two. C: {@code
     * ibv_device_attr.page_size_cap}.
     */
    public long pageSizes() {
        return pageSizes;
    }

    /** Returns the maximum length in bytes of one memory region. */
    public long maxMemoryRegionBytes() {
        return maxMemoryRegionBytes;
    }

    /** Returns the maximum number of queue pairs. */
    public int maxQueuePairs() {
        return maxQueuePairs;
    }

    /** Returns the maximum number of work requests of one queue. */
    public int maxQueuePairWorkRequests() {
        return maxQueuePairWorkRequests;
    }

    /** Returns the maximum number of scatter/gather entries of one work request. */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /** Returns the maximum number of scatter/gather entries of one READ. C: {@code ibv_device_attr.max_sge_rd}. */
    public int maxReadScatterGather() {
        return maxReadScatterGather;
    }

    /** Returns the maximum number of completion queues. */
    public int maxCompletionQueues() {
        return maxCompletionQueues;
    }

    /** Returns the maximum number of entries of one completion queue. */
    public int maxCompletionQueueEntries() {
        return maxCompletionQueueEntries;
    }

    /** Returns the maximum number of memory regions. */
    public int maxMemoryRegions() {
        return maxMemoryRegions;
    }

    /** Returns the maximum number of memory windows. */
    public int maxMemoryWindows() {
        return maxMemoryWindows;
    }

    /** Returns the maximum number of protection domains. */
    public int maxProtectionDomains() {
        return maxProtectionDomains;
    }

    /** Returns the maximum number of shared receive queues. */
    public int maxSharedReceiveQueues() {
        return maxSharedReceiveQueues;
    }

    /** Returns the maximum number of receives of one shared receive queue. */
    public int maxSharedReceiveQueueWorkRequests() {
        return maxSharedReceiveQueueWorkRequests;
    }

    /** Returns the maximum number of scatter/gather entries of one receive of a shared receive queue. */
    public int maxSharedReceiveQueueScatterGather() {
        return maxSharedReceiveQueueScatterGather;
    }

    /** Returns the maximum number of READs and atomics of the peer that one queue pair serves concurrently. */
    public int maxReadAtomicPerQueuePair() {
        return maxReadAtomicPerQueuePair;
    }

    /**
     * Returns the maximum number of READs and atomics that the device serves concurrently, for all queue pairs. C:
     * {@code ibv_device_attr.max_res_rd_atom}.
     */
    public int maxResponderResources() {
        return maxResponderResources;
    }

    /** Returns the maximum number of outstanding READs and atomics of one queue pair. */
    public int maxInitiatedReadAtomicPerQueuePair() {
        return maxInitiatedReadAtomicPerQueuePair;
    }

    /** Returns the maximum number of multicast groups. C: {@code ibv_device_attr.max_mcast_grp}. */
    public int maxMulticastGroups() {
        return maxMulticastGroups;
    }

    /**
     * Returns the maximum number of queue pairs that can be attached to one multicast group. C: {@code
     * ibv_device_attr.max_mcast_qp_attach}.
     */
    public int maxMulticastQueuePairs() {
        return maxMulticastQueuePairs;
    }

    /**
     * Returns the maximum number of attachments of queue pairs to multicast groups. C: {@code
     * ibv_device_attr.max_total_mcast_qp_attach}.
     */
    public int maxMulticastAttachments() {
        return maxMulticastAttachments;
    }

    /** Returns the maximum number of address handles. C: {@code ibv_device_attr.max_ah}. */
    public int maxAddressHandles() {
        return maxAddressHandles;
    }

    /** Returns the maximum number of entries of a partition key table. C: {@code ibv_device_attr.max_pkeys}. */
    public int maxPartitionKeys() {
        return maxPartitionKeys;
    }

    /** Returns the maximum length in bytes of one inline work request. */
    public int maxInlineBytes() {
        return maxInlineBytes;
    }

    /** Returns the exponent of the maximum delay of an acknowledgement, 4.096 µs × 2<sup>n</sup>. */
    public int localAckDelay() {
        return localAckDelay;
    }

    /** Returns the optional features of the device. C: {@code ibv_device_attr_ex.device_cap_flags_ex}. */
    public Set<DeviceCapability> capabilities() {
        return DeviceCapability.ofBits(capabilityBits);
    }

    /**
     * Returns the optional features as bits, including those without a constant in {@link DeviceCapability}. C: {@code
     * ibv_device_attr_ex.device_cap_flags_ex}, whose lower half is {@code ibv_device_attr.device_cap_flags}.
     */
    public long capabilityBits() {
        return capabilityBits;
    }

    /** Returns the scope in which atomics are atomic. C: {@code ibv_device_attr.atomic_cap}. */
    public AtomicCapability atomicCapability() {
        return atomicCapability;
    }

    /** Returns the number of ports. */
    public int ports() {
        return ports;
    }

    /**
     * Returns the valid bits of completion timestamps of the device's clock; 0 if the device does not stamp
     * completions. C: {@code ibv_device_attr_ex.completion_timestamp_mask}.
     */
    public long completionTimestampMask() {
        return completionTimestampMask;
    }

    /**
     * Returns the frequency of the device's clock in kHz; 0 if it has none. C: {@code
     * ibv_device_attr_ex.hca_core_clock}.
     */
    public long clockKilohertz() {
        return clockKilohertz;
    }

    /**
     * Returns whether memory can be registered {@linkplain AccessFlag#ON_DEMAND on demand}. C: {@code IBV_ODP_SUPPORT}
     * of {@code ibv_odp_caps.general_caps}.
     */
    public boolean hasOnDemandPaging() {
        return onDemandPaging;
    }

    /**
     * Returns the operations of queue pairs that may use memory that is registered on demand. C: {@code
     * ibv_odp_caps.per_transport_caps}, {@code ibv_device_attr_ex.xrc_odp_caps}.
     */
    public Set<OnDemandOperation> onDemandOperations(QueuePairType type) {
        return onDemandOperations.getOrDefault(type, Set.of());
    }

    /** Builds the attributes. Not thread safe. */
    public static final class Builder {
        private DeviceAttributes attributes = new DeviceAttributes();

        private Builder() {}

        /** Sets the version of the device's firmware, as text. */
        public Builder firmwareVersion(String value) {
            attributes.firmwareVersion = value;
            return this;
        }

        /** Sets the GUID of the node. */
        public Builder nodeGuid(long value) {
            attributes.nodeGuid = value;
            return this;
        }

        /** Sets the GUID of the system. */
        public Builder systemImageGuid(long value) {
            attributes.systemImageGuid = value;
            return this;
        }

        /** Sets the vendor ID. */
        public Builder vendorId(int value) {
            attributes.vendorId = value;
            return this;
        }

        /** Sets the vendor's part ID. */
        public Builder vendorPartId(int value) {
            attributes.vendorPartId = value;
            return this;
        }

        /** Sets the version number of the hardware. */
        public Builder hardwareVersion(int value) {
            attributes.hardwareVersion = value;
            return this;
        }

        /** Sets the page sizes in bytes that the device can map, a bit for each power of two. */
        public Builder pageSizes(long value) {
            attributes.pageSizes = value;
            return this;
        }

        /** Sets the maximum length in bytes of one memory region. */
        public Builder maxMemoryRegionBytes(long value) {
            attributes.maxMemoryRegionBytes = value;
            return this;
        }

        /** Sets the maximum number of queue pairs. */
        public Builder maxQueuePairs(int value) {
            attributes.maxQueuePairs = value;
            return this;
        }

        /** Sets the maximum number of work requests of one queue. */
        public Builder maxQueuePairWorkRequests(int value) {
            attributes.maxQueuePairWorkRequests = value;
            return this;
        }

        /** Sets the maximum number of scatter/gather entries of one work request. */
        public Builder maxScatterGather(int value) {
            attributes.maxScatterGather = value;
            return this;
        }

        /** Sets the maximum number of scatter/gather entries of one READ. */
        public Builder maxReadScatterGather(int value) {
            attributes.maxReadScatterGather = value;
            return this;
        }

        /** Sets the maximum number of completion queues. */
        public Builder maxCompletionQueues(int value) {
            attributes.maxCompletionQueues = value;
            return this;
        }

        /** Sets the maximum number of entries of one completion queue. */
        public Builder maxCompletionQueueEntries(int value) {
            attributes.maxCompletionQueueEntries = value;
            return this;
        }

        /** Sets the maximum number of memory regions. */
        public Builder maxMemoryRegions(int value) {
            attributes.maxMemoryRegions = value;
            return this;
        }

        /** Sets the maximum number of memory windows. */
        public Builder maxMemoryWindows(int value) {
            attributes.maxMemoryWindows = value;
            return this;
        }

        /** Sets the maximum number of protection domains. */
        public Builder maxProtectionDomains(int value) {
            attributes.maxProtectionDomains = value;
            return this;
        }

        /** Sets the maximum number of shared receive queues. */
        public Builder maxSharedReceiveQueues(int value) {
            attributes.maxSharedReceiveQueues = value;
            return this;
        }

        /** Sets the maximum number of receives of one shared receive queue. */
        public Builder maxSharedReceiveQueueWorkRequests(int value) {
            attributes.maxSharedReceiveQueueWorkRequests = value;
            return this;
        }

        /** Sets the maximum number of scatter/gather entries of one receive of a shared receive queue. */
        public Builder maxSharedReceiveQueueScatterGather(int value) {
            attributes.maxSharedReceiveQueueScatterGather = value;
            return this;
        }

        /** Sets the maximum number of READs and atomics of the peer that one queue pair serves concurrently. */
        public Builder maxReadAtomicPerQueuePair(int value) {
            attributes.maxReadAtomicPerQueuePair = value;
            return this;
        }

        /** Sets the maximum number of READs and atomics that the device serves concurrently, for all queue pairs. */
        public Builder maxResponderResources(int value) {
            attributes.maxResponderResources = value;
            return this;
        }

        /** Sets the maximum number of outstanding READs and atomics of one queue pair. */
        public Builder maxInitiatedReadAtomicPerQueuePair(int value) {
            attributes.maxInitiatedReadAtomicPerQueuePair = value;
            return this;
        }

        /** Sets the maximum number of multicast groups. */
        public Builder maxMulticastGroups(int value) {
            attributes.maxMulticastGroups = value;
            return this;
        }

        /** Sets the maximum number of queue pairs that can be attached to one multicast group. */
        public Builder maxMulticastQueuePairs(int value) {
            attributes.maxMulticastQueuePairs = value;
            return this;
        }

        /** Sets the maximum number of attachments of queue pairs to multicast groups. */
        public Builder maxMulticastAttachments(int value) {
            attributes.maxMulticastAttachments = value;
            return this;
        }

        /** Sets the maximum number of address handles. */
        public Builder maxAddressHandles(int value) {
            attributes.maxAddressHandles = value;
            return this;
        }

        /** Sets the maximum number of entries of a partition key table. */
        public Builder maxPartitionKeys(int value) {
            attributes.maxPartitionKeys = value;
            return this;
        }

        /** Sets the maximum length in bytes of one inline work request. */
        public Builder maxInlineBytes(int value) {
            attributes.maxInlineBytes = value;
            return this;
        }

        /** Sets the exponent of the maximum delay of an acknowledgement, 4.096 µs × 2<sup>n</sup>. */
        public Builder localAckDelay(int value) {
            attributes.localAckDelay = value;
            return this;
        }

        /** Sets the optional features of the device. */
        public Builder capabilities(Set<DeviceCapability> value) {
            return capabilityBits(
                    value.stream().mapToLong(DeviceCapability::bit).reduce(0, (a, b) -> a | b));
        }

        /**
         * Sets the optional features as bits, which may include some without a constant in {@link DeviceCapability}.
         */
        public Builder capabilityBits(long value) {
            attributes.capabilityBits = value;
            return this;
        }

        /** Sets the scope in which atomics are atomic. The default is {@link AtomicCapability#NONE}. */
        public Builder atomicCapability(AtomicCapability value) {
            attributes.atomicCapability = value;
            return this;
        }

        /** Sets the number of ports. */
        public Builder ports(int value) {
            attributes.ports = value;
            return this;
        }

        /** Sets the valid bits of completion timestamps of the device's clock. */
        public Builder completionTimestampMask(long value) {
            attributes.completionTimestampMask = value;
            return this;
        }

        /** Sets the frequency of the device's clock in kHz. */
        public Builder clockKilohertz(long value) {
            attributes.clockKilohertz = value;
            return this;
        }

        /** Sets whether memory can be registered on demand. */
        public Builder onDemandPaging(boolean value) {
            attributes.onDemandPaging = value;
            return this;
        }

        /** Sets the operations of queue pairs of a type that may use memory that is registered on demand. */
        public Builder onDemandOperations(QueuePairType type, Set<OnDemandOperation> value) {
            attributes.onDemandOperations.put(type, Set.copyOf(value));
            return this;
        }

        /** Returns the attributes, and resets the builder. */
        public DeviceAttributes build() {
            DeviceAttributes built = attributes;
            attributes = new DeviceAttributes();
            return built;
        }
    }
}
