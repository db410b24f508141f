package io.rdma4j.verbs;

import java.util.EnumSet;
import java.util.Set;

/** An optional feature of a device. C: {@code enum ibv_device_cap_flags} and the 64-bit constants next to it. */
public enum DeviceCapability {
    /** The size of the queues of a queue pair can be changed. */
    RESIZE_MAX_WORK_REQUESTS(0, "RESIZE_MAX_WR"),
    /** The ports count packets of other partitions: {@link PortAttributes#partitionKeyViolations}. */
    BAD_PARTITION_KEY_COUNTER(1, "BAD_PKEY_CNTR"),
    /** The ports count datagrams with a wrong queue key: {@link PortAttributes#queueKeyViolations}. */
    BAD_QUEUE_KEY_COUNTER(2, "BAD_QKEY_CNTR"),
    /** Raw packets can be multicast. */
    RAW_MULTICAST(3, "RAW_MULTI"),
    /** Connections can have an alternate path. */
    AUTOMATIC_PATH_MIGRATION(4, "AUTO_PATH_MIG"),
    /** The port of a connected queue pair can be changed. */
    CHANGE_PHYSICAL_PORT(5, "CHANGE_PHY_PORT"),
    /** A datagram is only sent from the port of its queue pair. */
    DATAGRAM_PORT_ENFORCED(6, "UD_AV_PORT_ENFORCE"),
    /** {@link QueuePairAttributes#currentState} specifies the state from which a queue pair is modified. */
    CURRENT_STATE_CHECKED(7, "CURR_QP_STATE_MOD"),
    /** A port can be shut down. */
    SHUTDOWN_PORT(8, "SHUTDOWN_PORT"),
    /** A port can request a kind of initialization from the subnet manager. */
    INITIALIZATION_TYPE(9, "INIT_TYPE"),
    /** {@link AsyncEvent.Type#PORT_ACTIVE} is reported. */
    PORT_ACTIVE_EVENT(10, "PORT_ACTIVE_EVENT"),
    /** {@link DeviceAttributes#systemImageGuid} is valid. */
    SYSTEM_IMAGE_GUID(11, "SYS_IMAGE_GUID"),
    /** A responder without a posted receive tells the requester to retry later. */
    RNR_NAK_GENERATION(12, "RC_RNR_NAK_GEN"),
    /** A shared receive queue can be resized. */
    SHARED_RECEIVE_QUEUE_RESIZE(13, "SRQ_RESIZE"),
    /** A notification can be requested for a number of completions. */
    NOTIFY_N_COMPLETIONS(14, "N_NOTIFY_CQ"),
    /** The device has memory windows of type 1. */
    MEMORY_WINDOW(17, "MEM_WINDOW"),
    /** Checksums of IP packets in datagrams are computed and verified. */
    DATAGRAM_CHECKSUMS(18, "UD_IP_CSUM"),
    /** The device has extended reliable connections. */
    XRC(20, "XRC"),
    /** The device has SEND with invalidate and local invalidate; the kernel can also use fast registration. */
    MEMORY_MANAGEMENT_EXTENSIONS(21, "MEM_MGT_EXTENSIONS"),
    /** Memory windows of type 2 are bound to the number of a queue pair. */
    MEMORY_WINDOW_TYPE_2A(23, "MEM_WINDOW_TYPE_2A"),
    /** Memory windows of type 2 are bound to the number and the protection domain of a queue pair. */
    MEMORY_WINDOW_TYPE_2B(24, "MEM_WINDOW_TYPE_2B"),
    /** Checksums of IP packets in reliable connections are computed and verified. */
    CONNECTION_CHECKSUMS(25, "RC_IP_CSUM"),
    /** Checksums of raw IP packets are computed and verified. */
    RAW_CHECKSUMS(26, "RAW_IP_CSUM"),
    /** Received packets can be assigned to queue pairs by rules. */
    MANAGED_FLOW_STEERING(29, "MANAGED_FLOW_STEERING"),
    /** Raw Ethernet frames can be received with their checksums. */
    RAW_SCATTER_FCS(34, "RAW_SCATTER_FCS"),
    /** Writes to memory can be padded to whole cache lines. */
    PCI_WRITE_END_PADDING(36, "PCI_WRITE_END_PADDING"),
    /** FLUSH makes data visible to all processors of the host. */
    FLUSH_GLOBAL(38, "FLUSH_GLOBAL"),
    /** FLUSH makes data persistent. */
    FLUSH_PERSISTENT(39, "FLUSH_PERSISTENT"),
    /** The device has ATOMIC WRITE. */
    ATOMIC_WRITE(40, "ATOMIC_WRITE");

    private final int number;
    private final String text;

    DeviceCapability(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** Returns the bit of {@code ibv_device_attr_ex.device_cap_flags_ex}. */
    public long bit() {
        return 1L << number;
    }

    /** Returns the name in C, without {@code IBV_DEVICE_}. */
    public String text() {
        return text;
    }

    /** Returns the features for a set of bits. Unknown bits are ignored. */
    public static Set<DeviceCapability> ofBits(long bits) {
        Set<DeviceCapability> capabilities = EnumSet.noneOf(DeviceCapability.class);
        for (DeviceCapability capability : values()) {
            if ((bits & capability.bit()) != 0) {
                capabilities.add(capability);
            }
        }
        return capabilities;
    }
}
