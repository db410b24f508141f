package io.rdma4j.verbs.abi;

/** The attributes of a device. */
@CStruct("struct ibv_device_attr")
public final class DeviceLimits {
    public static final int BYTES = 232;

    @CName("fw_ver")
    public static final int FIRMWARE_VERSION = 0;

    @CName("node_guid")
    public static final int NODE_GUID = 64;

    @CName("sys_image_guid")
    public static final int SYSTEM_IMAGE_GUID = 72;

    @CName("max_mr_size")
    public static final int MAX_REGION_BYTES = 80;

    @CName("page_size_cap")
    public static final int PAGE_SIZES = 88;

    @CName("vendor_id")
    public static final int VENDOR_ID = 96;

    @CName("vendor_part_id")
    public static final int VENDOR_PART_ID = 100;

    @CName("hw_ver")
    public static final int HARDWARE_VERSION = 104;

    @CName("max_qp")
    public static final int MAX_QUEUE_PAIRS = 108;

    @CName("max_qp_wr")
    public static final int MAX_QUEUE_PAIR_WORK_REQUESTS = 112;

    @CName("device_cap_flags")
    public static final int CAPABILITIES = 116;

    @CName("max_sge")
    public static final int MAX_SCATTER_GATHER = 120;

    @CName("max_sge_rd")
    public static final int MAX_READ_SCATTER_GATHER = 124;

    @CName("max_cq")
    public static final int MAX_COMPLETION_QUEUES = 128;

    @CName("max_cqe")
    public static final int MAX_COMPLETION_QUEUE_ENTRIES = 132;

    @CName("max_mr")
    public static final int MAX_REGIONS = 136;

    @CName("max_pd")
    public static final int MAX_PROTECTION_DOMAINS = 140;

    @CName("max_qp_rd_atom")
    public static final int MAX_READ_ATOMIC = 144;

    @CName("max_res_rd_atom")
    public static final int MAX_RESPONDER_RESOURCES = 152;

    @CName("max_qp_init_rd_atom")
    public static final int MAX_INITIATED_READ_ATOMIC = 156;

    @CName("atomic_cap")
    public static final int ATOMIC_CAPABILITY = 164;

    @CName("max_mw")
    public static final int MAX_WINDOWS = 176;

    @CName("max_mcast_grp")
    public static final int MAX_MULTICAST_GROUPS = 188;

    @CName("max_mcast_qp_attach")
    public static final int MAX_MULTICAST_QUEUE_PAIRS = 192;

    @CName("max_total_mcast_qp_attach")
    public static final int MAX_MULTICAST_ATTACHMENTS = 196;

    @CName("max_ah")
    public static final int MAX_ADDRESS_HANDLES = 200;

    @CName("max_srq")
    public static final int MAX_SHARED_RECEIVE_QUEUES = 212;

    @CName("max_srq_wr")
    public static final int MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS = 216;

    @CName("max_srq_sge")
    public static final int MAX_SHARED_RECEIVE_QUEUE_SCATTER_GATHER = 220;

    @CName("max_pkeys")
    public static final int MAX_PARTITION_KEYS = 224;

    @CName("local_ca_ack_delay")
    public static final int LOCAL_ACK_DELAY = 226;

    @CName("phys_port_cnt")
    public static final int PORTS = 227;

    private DeviceLimits() {}
}
