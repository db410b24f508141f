package io.rdma4j.verbs.abi;

/** The structures of libibverbs. A number is the offset of a field in bytes; {@code BYTES} is the structure's size. */
public final class VerbsStructures {
    private static final int POINTER = 8;

    private VerbsStructures() {}

    /** A device in the list of devices. */
    public static final class DeviceFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_device");

        public static final int NODE_TYPE = LAYOUT.gap(2 * POINTER).integer("node_type");
        public static final int TRANSPORT_TYPE = LAYOUT.integer("transport_type");

        private DeviceFields() {}
    }

    /** An open device. It has pointers to functions that programs call directly. */
    public static final class Context {
        public static final CStructure LAYOUT = new CStructure("struct ibv_context");

        public static final int ALLOCATE_WINDOW =
                LAYOUT.skip(POINTER, "device").gap(7 * POINTER).pointer("ops.alloc_mw");
        public static final int BIND_WINDOW = LAYOUT.pointer("ops.bind_mw");
        public static final int FREE_WINDOW = LAYOUT.pointer("ops.dealloc_mw");
        public static final int POLL = LAYOUT.gap(POINTER).pointer("ops.poll_cq");
        public static final int REQUEST_NOTIFICATION = LAYOUT.pointer("ops.req_notify_cq");
        public static final int POST_SHARED_RECEIVE = LAYOUT.gap(7 * POINTER).pointer("ops.post_srq_recv");
        public static final int POST_SEND = LAYOUT.gap(4 * POINTER).pointer("ops.post_send");
        public static final int POST_RECEIVE = LAYOUT.pointer("ops.post_recv");
        public static final int ASYNC_DESCRIPTOR =
                LAYOUT.gap(5 * POINTER).skip(4, "cmd_fd").integer("async_fd");
        public static final int COMPLETION_VECTORS = LAYOUT.integer("num_comp_vectors");
        private static final int MUTEX = LAYOUT.mutex("mutex");

        /** The size of a pthread mutex on the architectures where {@link #ABI_COMPAT} is the field's offset. */
        public static final int MUTEX_BYTES = 40;

        /**
         * The offset of {@code abi_compat} if a mutex has 40 bytes, as on x86-64. The structure ends 8 bytes later. The
         * field is -1 for an extended context.
         */
        public static final int ABI_COMPAT = MUTEX + MUTEX_BYTES;

        /** The offset of {@code abi_compat} if a mutex has 48 bytes, as on arm64. */
        public static final int ABI_COMPAT_AFTER_LONG_MUTEX = ABI_COMPAT + 8;

        private Context() {}
    }

    /** The fields before the context in an extended context. The offsets are relative to the context, and negative. */
    public static final class ExtendedContext {
        public static final CStructure LAYOUT = new CStructure("struct verbs_context", "context", -40 * POINTER);

        public static final int QUERY_PORT = LAYOUT.pointer("query_port");
        public static final int ADVISE = LAYOUT.pointer("advise_mr");
        public static final int QUERY_CLOCK = LAYOUT.gap(22 * POINTER).pointer("query_rt_values");
        public static final int CREATE_COMPLETION_QUEUE = LAYOUT.pointer("create_cq_ex");
        public static final int QUERY_DEVICE = LAYOUT.skip(POINTER, "priv").pointer("query_device_ex");
        public static final int CREATE_QUEUE_PAIR = LAYOUT.gap(5 * POINTER).pointer("create_qp_ex");
        public static final int SHARED_RECEIVE_QUEUE_NUMBER = LAYOUT.pointer("get_srq_num");
        public static final int CREATE_SHARED_RECEIVE_QUEUE = LAYOUT.pointer("create_srq_ex");
        public static final int OPEN_XRC_DOMAIN = LAYOUT.pointer("open_xrcd");
        public static final int CLOSE_XRC_DOMAIN = LAYOUT.pointer("close_xrcd");
        public static final int SIZE = LAYOUT.gap(POINTER).uint64("sz");

        private ExtendedContext() {}
    }

    /** The attributes of a device. */
    public static final class DeviceLimits {
        public static final CStructure LAYOUT = new CStructure("struct ibv_device_attr");

        public static final int FIRMWARE_VERSION = LAYOUT.array("fw_ver", 1, 64);
        public static final int NODE_GUID = LAYOUT.uint64("node_guid");
        public static final int SYSTEM_IMAGE_GUID = LAYOUT.uint64("sys_image_guid");
        public static final int MAX_REGION_BYTES = LAYOUT.uint64("max_mr_size");
        public static final int PAGE_SIZES = LAYOUT.uint64("page_size_cap");
        public static final int VENDOR_ID = LAYOUT.uint32("vendor_id");
        public static final int VENDOR_PART_ID = LAYOUT.uint32("vendor_part_id");
        public static final int HARDWARE_VERSION = LAYOUT.uint32("hw_ver");
        public static final int MAX_QUEUE_PAIRS = LAYOUT.integer("max_qp");
        public static final int MAX_QUEUE_PAIR_WORK_REQUESTS = LAYOUT.integer("max_qp_wr");
        public static final int CAPABILITIES = LAYOUT.integer("device_cap_flags");
        public static final int MAX_SCATTER_GATHER = LAYOUT.integer("max_sge");
        public static final int MAX_READ_SCATTER_GATHER = LAYOUT.integer("max_sge_rd");
        public static final int MAX_COMPLETION_QUEUES = LAYOUT.integer("max_cq");
        public static final int MAX_COMPLETION_QUEUE_ENTRIES = LAYOUT.integer("max_cqe");
        public static final int MAX_REGIONS = LAYOUT.integer("max_mr");
        public static final int MAX_PROTECTION_DOMAINS = LAYOUT.integer("max_pd");
        public static final int MAX_READ_ATOMIC = LAYOUT.integer("max_qp_rd_atom");
        public static final int MAX_RESPONDER_RESOURCES =
                LAYOUT.skip(4, "max_ee_rd_atom").integer("max_res_rd_atom");
        public static final int MAX_INITIATED_READ_ATOMIC = LAYOUT.integer("max_qp_init_rd_atom");
        public static final int ATOMIC_CAPABILITY =
                LAYOUT.skip(4, "max_ee_init_rd_atom").integer("atomic_cap");
        public static final int MAX_WINDOWS =
                LAYOUT.skip(4, "max_ee", "max_rdd").integer("max_mw");
        public static final int MAX_MULTICAST_GROUPS =
                LAYOUT.skip(4, "max_raw_ipv6_qp", "max_raw_ethy_qp").integer("max_mcast_grp");
        public static final int MAX_MULTICAST_QUEUE_PAIRS = LAYOUT.integer("max_mcast_qp_attach");
        public static final int MAX_MULTICAST_ATTACHMENTS = LAYOUT.integer("max_total_mcast_qp_attach");
        public static final int MAX_ADDRESS_HANDLES = LAYOUT.integer("max_ah");
        public static final int MAX_SHARED_RECEIVE_QUEUES =
                LAYOUT.skip(4, "max_fmr", "max_map_per_fmr").integer("max_srq");
        public static final int MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS = LAYOUT.integer("max_srq_wr");
        public static final int MAX_SHARED_RECEIVE_QUEUE_SCATTER_GATHER = LAYOUT.integer("max_srq_sge");
        public static final int MAX_PARTITION_KEYS = LAYOUT.uint16("max_pkeys");
        public static final int LOCAL_ACK_DELAY = LAYOUT.uint8("local_ca_ack_delay");
        public static final int PORTS = LAYOUT.uint8("phys_port_cnt");
        public static final int BYTES = LAYOUT.bytes();

        private DeviceLimits() {}
    }

    /** The attributes of a device that only the extended query returns. */
    public static final class ExtendedDeviceLimits {
        public static final CStructure LAYOUT = new CStructure("struct ibv_device_attr_ex");

        public static final int ON_DEMAND = LAYOUT.skip(DeviceLimits.BYTES, "orig_attr")
                .skip(4, "comp_mask")
                .uint64("odp_caps.general_caps");
        public static final int ON_DEMAND_RELIABLE_CONNECTIONS =
                LAYOUT.uint32("odp_caps.per_transport_caps.rc_odp_caps");
        public static final int ON_DEMAND_UNRELIABLE_CONNECTIONS =
                LAYOUT.uint32("odp_caps.per_transport_caps.uc_odp_caps");
        public static final int ON_DEMAND_DATAGRAMS = LAYOUT.uint32("odp_caps.per_transport_caps.ud_odp_caps");
        public static final int COMPLETION_TIMESTAMP_MASK = LAYOUT.uint64("completion_timestamp_mask");
        public static final int CLOCK_KILOHERTZ = LAYOUT.uint64("hca_core_clock");
        public static final int CAPABILITIES = LAYOUT.uint64("device_cap_flags_ex");
        public static final int ON_DEMAND_EXTENDED_CONNECTIONS = LAYOUT.skip(8, "tso_caps")
                .skip(32, "rss_caps")
                .skip(4, "max_wq_type_rq")
                .skip(12, "packet_pacing_caps")
                .skip(4, "raw_packet_caps")
                .skip(20, "tm_caps")
                .skip(4, "cq_mod_caps")
                .skip(8, "max_dm_size")
                .skip(6, "pci_atomic_caps")
                .uint32("xrc_odp_caps");
        public static final int PORTS = LAYOUT.uint32("phys_port_cnt_ex");
        public static final int BYTES = LAYOUT.bytes();

        private ExtendedDeviceLimits() {}
    }

    /** The attributes of a port. */
    public static final class PortFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_port_attr");

        public static final int STATE = LAYOUT.integer("state");
        public static final int MAX_MTU = LAYOUT.integer("max_mtu");
        public static final int ACTIVE_MTU = LAYOUT.integer("active_mtu");
        public static final int GID_TABLE_LENGTH = LAYOUT.integer("gid_tbl_len");
        public static final int CAPABILITIES = LAYOUT.uint32("port_cap_flags");
        public static final int MAX_MESSAGE_BYTES = LAYOUT.uint32("max_msg_sz");
        public static final int PARTITION_KEY_VIOLATIONS = LAYOUT.uint32("bad_pkey_cntr");
        public static final int QUEUE_KEY_VIOLATIONS = LAYOUT.uint32("qkey_viol_cntr");
        public static final int PARTITION_KEY_TABLE_LENGTH = LAYOUT.uint16("pkey_tbl_len");
        public static final int LID = LAYOUT.uint16("lid");
        public static final int SUBNET_MANAGER_IDENTIFIER = LAYOUT.uint16("sm_lid");
        public static final int LOCAL_IDENTIFIER_MASK = LAYOUT.uint8("lmc");
        public static final int MAX_VIRTUAL_LANES = LAYOUT.uint8("max_vl_num");
        public static final int SUBNET_MANAGER_SERVICE_LEVEL = LAYOUT.uint8("sm_sl");
        public static final int SUBNET_TIMEOUT = LAYOUT.uint8("subnet_timeout");
        public static final int INITIALIZATION_REPLY = LAYOUT.uint8("init_type_reply");
        public static final int ACTIVE_WIDTH = LAYOUT.uint8("active_width");
        public static final int ACTIVE_SPEED = LAYOUT.uint8("active_speed");
        public static final int PHYSICAL_STATE = LAYOUT.uint8("phys_state");
        public static final int LINK_LAYER = LAYOUT.uint8("link_layer");
        public static final int CAPABILITIES_2 = LAYOUT.skip(1, "flags").uint16("port_cap_flags2");
        /** {@code active_speed_ex} of libibverbs 50 and newer; 0 with older ones. */
        public static final int ACTIVE_SPEED_EXTENDED = LAYOUT.uint32("active_speed_ex");
        /** The size in the newest header files. The exported function of old libraries writes fewer bytes. */
        public static final int MAX_BYTES = LAYOUT.bytes();

        private PortFields() {}
    }

    /** An entry of the GID table. */
    public static final class GidTableEntry {
        public static final CStructure LAYOUT = new CStructure("struct ibv_gid_entry");

        public static final int GID = LAYOUT.array("gid", 8, 2);
        public static final int INDEX = LAYOUT.uint32("gid_index");
        public static final int PORT = LAYOUT.uint32("port_num");
        public static final int TYPE = LAYOUT.uint32("gid_type");
        public static final int INTERFACE_INDEX = LAYOUT.uint32("ndev_ifindex");
        public static final int BYTES = LAYOUT.bytes();

        private GidTableEntry() {}
    }

    /** An asynchronous event. */
    public static final class AsyncEventFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_async_event");

        public static final int ELEMENT = LAYOUT.pointer("element");
        public static final int TYPE = LAYOUT.integer("event_type");
        public static final int BYTES = LAYOUT.bytes();

        private AsyncEventFields() {}
    }

    /** The time of a device's clock. Drivers store the number of ticks in the field for nanoseconds. */
    public static final class ClockValues {
        public static final CStructure LAYOUT = new CStructure("struct ibv_values_ex");

        public static final int MASK = LAYOUT.uint32("comp_mask");
        public static final int TICKS = LAYOUT.skip(8, "raw_clock.tv_sec").uint64("raw_clock.tv_nsec");
        public static final int BYTES = LAYOUT.bytes();

        private ClockValues() {}
    }

    /** A protection domain. */
    public static final class ProtectionDomainFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_pd");

        public static final int CONTEXT = LAYOUT.pointer("context");

        private ProtectionDomainFields() {}
    }

    /** The attributes of a new XRC domain. */
    public static final class XrcDomainCreation {
        public static final CStructure LAYOUT = new CStructure("struct ibv_xrcd_init_attr");

        public static final int MASK = LAYOUT.uint32("comp_mask");
        public static final int DESCRIPTOR = LAYOUT.integer("fd");
        public static final int OPEN_FLAGS = LAYOUT.integer("oflags");
        public static final int BYTES = LAYOUT.bytes();

        private XrcDomainCreation() {}
    }

    /** A memory region. */
    public static final class RegionFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_mr");

        public static final int ADDRESS = LAYOUT.skip(8, "context", "pd").pointer("addr");
        public static final int LENGTH = LAYOUT.uint64("length");
        public static final int HANDLE = LAYOUT.uint32("handle");
        public static final int LOCAL_KEY = LAYOUT.uint32("lkey");
        public static final int REMOTE_KEY = LAYOUT.uint32("rkey");

        private RegionFields() {}
    }

    /** A memory window. */
    public static final class WindowFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_mw");

        public static final int KEY = LAYOUT.skip(8, "context", "pd").uint32("rkey");
        public static final int HANDLE = LAYOUT.uint32("handle");

        private WindowFields() {}
    }

    /** The binding of a memory window of type 1. */
    public static final class WindowBinding {
        public static final CStructure LAYOUT = new CStructure("struct ibv_mw_bind");

        public static final int ID = LAYOUT.uint64("wr_id");
        public static final int FLAGS = LAYOUT.integer("send_flags");
        public static final int REGION = LAYOUT.pointer("bind_info.mr");
        public static final int ADDRESS = LAYOUT.uint64("bind_info.addr");
        public static final int LENGTH = LAYOUT.uint64("bind_info.length");
        public static final int ACCESS = LAYOUT.integer("bind_info.mw_access_flags");
        public static final int BYTES = LAYOUT.bytes();

        private WindowBinding() {}
    }

    /** An address vector. The kernel has the same structure under another name. */
    public static final class AddressVectorFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_ah_attr", "struct ib_uverbs_ah_attr");

        public static final int DESTINATION_GID = LAYOUT.array("grh.dgid", 8, 2);
        public static final int FLOW_LABEL = LAYOUT.uint32("grh.flow_label");
        public static final int SOURCE_GID_INDEX = LAYOUT.uint8("grh.sgid_index");
        public static final int HOP_LIMIT = LAYOUT.uint8("grh.hop_limit");
        public static final int TRAFFIC_CLASS = LAYOUT.uint8("grh.traffic_class");
        public static final int SERVICE_LEVEL = LAYOUT.skip(2, "dlid").uint8("sl");
        public static final int STATIC_RATE = LAYOUT.skip(1, "src_path_bits").uint8("static_rate");
        public static final int IS_GLOBAL = LAYOUT.uint8("is_global");
        public static final int PORT = LAYOUT.uint8("port_num");
        public static final int BYTES = LAYOUT.bytes();

        private AddressVectorFields() {}
    }

    /** An address handle. */
    public static final class AddressHandleFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_ah");

        public static final int HANDLE = LAYOUT.skip(8, "context", "pd").uint32("handle");

        private AddressHandleFields() {}
    }

    /** A completion channel. */
    public static final class ChannelFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_comp_channel");

        public static final int DESCRIPTOR = LAYOUT.skip(8, "context").integer("fd");

        private ChannelFields() {}
    }

    /** A completion queue. */
    public static final class CompletionQueueFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_cq");

        public static final int CONTEXT = LAYOUT.pointer("context");
        public static final int CAPACITY =
                LAYOUT.skip(8, "channel", "cq_context").skip(4, "handle").integer("cqe");
        public static final int MUTEX = LAYOUT.mutex("mutex");

        private CompletionQueueFields() {}
    }

    /** The attributes of a new extended completion queue. */
    public static final class CompletionQueueCreation {
        public static final CStructure LAYOUT = new CStructure("struct ibv_cq_init_attr_ex");

        public static final int ENTRIES = LAYOUT.uint32("cqe");
        public static final int CHANNEL = LAYOUT.skip(8, "cq_context").pointer("channel");
        public static final int COMPLETION_VECTOR = LAYOUT.uint32("comp_vector");
        public static final int FIELDS = LAYOUT.uint64("wc_flags");
        public static final int BYTES =
                LAYOUT.skip(4, "comp_mask", "flags").skip(8, "parent_domain").bytes();

        private CompletionQueueCreation() {}
    }

    /**
     * An extended completion queue. It has pointers to functions, and the status and number of the current completion. The
     * offsets are relative to the condition, which follows a mutex with an architecture-dependent size.
     */
    public static final class ExtendedCompletionQueue {
        public static final CStructure LAYOUT = new CStructure("struct ibv_cq_ex", "cond", 0);

        public static final int STATUS = LAYOUT.skip(48, "cond")
                .skip(4, "comp_events_completed", "async_events_completed", "comp_mask")
                .integer("status");
        public static final int ID = LAYOUT.uint64("wr_id");
        public static final int START = LAYOUT.pointer("start_poll");
        public static final int NEXT = LAYOUT.pointer("next_poll");
        public static final int END = LAYOUT.pointer("end_poll");
        public static final int READ_OPCODE = LAYOUT.pointer("read_opcode");
        public static final int READ_LENGTH = LAYOUT.skip(8, "read_vendor_err").pointer("read_byte_len");
        public static final int READ_IMMEDIATE = LAYOUT.pointer("read_imm_data");
        public static final int READ_QUEUE_PAIR = LAYOUT.pointer("read_qp_num");
        public static final int READ_SOURCE_QUEUE_PAIR = LAYOUT.pointer("read_src_qp");
        public static final int READ_FLAGS = LAYOUT.pointer("read_wc_flags");
        public static final int READ_TIMESTAMP =
                LAYOUT.skip(8, "read_slid", "read_sl", "read_dlid_path_bits").pointer("read_completion_ts");

        private ExtendedCompletionQueue() {}
    }

    /** A work completion. */
    public static final class Completion {
        public static final CStructure LAYOUT = new CStructure("struct ibv_wc");

        public static final int ID = LAYOUT.uint64("wr_id");
        public static final int STATUS = LAYOUT.integer("status");
        public static final int OPCODE = LAYOUT.integer("opcode");
        public static final int VENDOR_ERROR = LAYOUT.uint32("vendor_err");
        public static final int LENGTH = LAYOUT.uint32("byte_len");
        public static final int IMMEDIATE = LAYOUT.uint32("imm_data");
        public static final int QUEUE_PAIR = LAYOUT.uint32("qp_num");
        public static final int SOURCE_QUEUE_PAIR = LAYOUT.uint32("src_qp");
        public static final int FLAGS = LAYOUT.integer("wc_flags");
        public static final int SERVICE_LEVEL =
                LAYOUT.skip(2, "pkey_index", "slid").uint8("sl");
        public static final int BYTES = LAYOUT.skip(1, "dlid_path_bits").bytes();

        private Completion() {}
    }

    /** The attributes of a shared receive queue. */
    public static final class SharedReceiveQueueSettings {
        public static final CStructure LAYOUT = new CStructure("struct ibv_srq_attr");

        public static final int WORK_REQUESTS = LAYOUT.uint32("max_wr");
        public static final int SCATTER_GATHER = LAYOUT.uint32("max_sge");
        public static final int LIMIT = LAYOUT.uint32("srq_limit");
        public static final int BYTES = LAYOUT.bytes();

        private SharedReceiveQueueSettings() {}
    }

    /** The attributes of a new shared receive queue. The structure of {@code ibv_create_srq} is its first 24 bytes. */
    public static final class SharedReceiveQueueCreation {
        public static final CStructure LAYOUT = new CStructure("struct ibv_srq_init_attr_ex");

        public static final int ATTRIBUTES =
                LAYOUT.skip(8, "srq_context").structure("attr", SharedReceiveQueueSettings.LAYOUT, 1);
        public static final int MASK = LAYOUT.uint32("comp_mask");
        public static final int TYPE = LAYOUT.integer("srq_type");
        public static final int PROTECTION_DOMAIN = LAYOUT.pointer("pd");
        public static final int XRC_DOMAIN = LAYOUT.pointer("xrcd");
        public static final int COMPLETION_QUEUE = LAYOUT.pointer("cq");
        public static final int BYTES = LAYOUT.skip(8, "tm_cap").bytes();

        private SharedReceiveQueueCreation() {}
    }

    /** The sizes of a queue pair. */
    public static final class Capabilities {
        public static final CStructure LAYOUT = new CStructure("struct ibv_qp_cap");

        public static final int SEND_WORK_REQUESTS = LAYOUT.uint32("max_send_wr");
        public static final int RECEIVE_WORK_REQUESTS = LAYOUT.uint32("max_recv_wr");
        public static final int SEND_SCATTER_GATHER = LAYOUT.uint32("max_send_sge");
        public static final int RECEIVE_SCATTER_GATHER = LAYOUT.uint32("max_recv_sge");
        public static final int INLINE_BYTES = LAYOUT.uint32("max_inline_data");
        public static final int BYTES = LAYOUT.bytes();

        private Capabilities() {}
    }

    /** The attributes of a new queue pair. The structure of {@code ibv_create_qp} is its first 64 bytes. */
    public static final class QueuePairCreation {
        public static final CStructure LAYOUT = new CStructure("struct ibv_qp_init_attr_ex");

        public static final int COMPLETIONS_OF_SENDS =
                LAYOUT.skip(8, "qp_context").pointer("send_cq");
        public static final int COMPLETIONS_OF_RECEIVES = LAYOUT.pointer("recv_cq");
        public static final int SHARED_RECEIVE_QUEUE = LAYOUT.pointer("srq");
        public static final int CAPABILITIES = LAYOUT.structure("cap", Capabilities.LAYOUT, 1);
        public static final int TYPE = LAYOUT.integer("qp_type");
        public static final int SIGNAL_ALL = LAYOUT.integer("sq_sig_all");
        public static final int MASK = LAYOUT.uint32("comp_mask");
        public static final int PROTECTION_DOMAIN = LAYOUT.pointer("pd");
        public static final int XRC_DOMAIN = LAYOUT.pointer("xrcd");
        public static final int CREATE_FLAGS = LAYOUT.uint32("create_flags");
        public static final int BYTES = LAYOUT.skip(2, "max_tso_header")
                .skip(8, "rwq_ind_tbl")
                .skip(24, "rx_hash_conf")
                .skip(4, "source_qpn")
                .skip(8, "send_ops_flags")
                .bytes();

        private QueuePairCreation() {}
    }

    /** The attributes of a queue pair, as a change of the queue pair specifies them. */
    public static final class QueuePairAttributeFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_qp_attr");

        public static final int STATE = LAYOUT.integer("qp_state");
        public static final int CURRENT_STATE = LAYOUT.integer("cur_qp_state");
        public static final int PATH_MTU = LAYOUT.integer("path_mtu");
        public static final int QUEUE_KEY = LAYOUT.skip(4, "path_mig_state").uint32("qkey");
        public static final int RECEIVE_PSN = LAYOUT.uint32("rq_psn");
        public static final int SEND_PSN = LAYOUT.uint32("sq_psn");
        public static final int DESTINATION_QUEUE_PAIR = LAYOUT.uint32("dest_qp_num");
        public static final int ACCESS = LAYOUT.integer("qp_access_flags");
        public static final int CAPABILITIES = LAYOUT.structure("cap", Capabilities.LAYOUT, 1);
        public static final int ADDRESS_VECTOR = LAYOUT.structure("ah_attr", AddressVectorFields.LAYOUT, 1);
        public static final int PARTITION_KEY_INDEX =
                LAYOUT.skip(32, "alt_ah_attr").uint16("pkey_index");
        public static final int NOTIFY_WHEN_DRAINED =
                LAYOUT.skip(2, "alt_pkey_index").uint8("en_sqd_async_notify");
        public static final int IS_DRAINING = LAYOUT.uint8("sq_draining");
        public static final int MAX_READ_ATOMIC = LAYOUT.uint8("max_rd_atomic");
        public static final int MAX_DESTINATION_READ_ATOMIC = LAYOUT.uint8("max_dest_rd_atomic");
        public static final int MIN_RNR_TIMER = LAYOUT.uint8("min_rnr_timer");
        public static final int PORT = LAYOUT.uint8("port_num");
        public static final int TIMEOUT = LAYOUT.uint8("timeout");
        public static final int RETRY_COUNT = LAYOUT.uint8("retry_cnt");
        public static final int RNR_RETRY = LAYOUT.uint8("rnr_retry");
        public static final int BYTES = LAYOUT.skip(1, "alt_port_num", "alt_timeout")
                .skip(4, "rate_limit")
                .bytes();

        private QueuePairAttributeFields() {}
    }

    /** A queue pair. */
    public static final class QueuePairFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_qp");

        public static final int CONTEXT = LAYOUT.pointer("context");
        public static final int NUMBER = LAYOUT.skip(8, "qp_context", "pd", "send_cq", "recv_cq", "srq")
                .skip(4, "handle")
                .uint32("qp_num");
        public static final int TYPE = LAYOUT.skip(4, "state").integer("qp_type");

        private QueuePairFields() {}
    }

    /** An element of a scatter-gather list. */
    public static final class ScatterGather {
        public static final CStructure LAYOUT = new CStructure("struct ibv_sge");

        public static final int ADDRESS = LAYOUT.uint64("addr");
        public static final int LENGTH = LAYOUT.uint32("length");
        public static final int LOCAL_KEY = LAYOUT.uint32("lkey");
        public static final int BYTES = LAYOUT.bytes();

        private ScatterGather() {}
    }

    /** A send work request. */
    public static final class SendRequest {
        public static final CStructure LAYOUT = new CStructure("struct ibv_send_wr");

        public static final int ID = LAYOUT.uint64("wr_id");
        public static final int NEXT = LAYOUT.pointer("next");
        public static final int LIST = LAYOUT.pointer("sg_list");
        public static final int LIST_LENGTH = LAYOUT.integer("num_sge");
        public static final int OPCODE = LAYOUT.integer("opcode");
        public static final int FLAGS = LAYOUT.integer("send_flags");
        public static final int IMMEDIATE = LAYOUT.uint32("imm_data");
        public static final int INVALIDATE_KEY = LAYOUT.at(IMMEDIATE).uint32("invalidate_rkey");
        public static final int RDMA_ADDRESS = LAYOUT.uint64("wr.rdma.remote_addr");
        public static final int RDMA_KEY = LAYOUT.uint32("wr.rdma.rkey");
        public static final int DATAGRAM_ADDRESS_HANDLE =
                LAYOUT.at(RDMA_ADDRESS).pointer("wr.ud.ah");
        public static final int DATAGRAM_QUEUE_PAIR = LAYOUT.uint32("wr.ud.remote_qpn");
        public static final int DATAGRAM_QUEUE_KEY = LAYOUT.uint32("wr.ud.remote_qkey");
        public static final int ATOMIC_ADDRESS = LAYOUT.at(RDMA_ADDRESS).uint64("wr.atomic.remote_addr");
        public static final int ATOMIC_COMPARE_OR_ADD = LAYOUT.uint64("wr.atomic.compare_add");
        public static final int ATOMIC_SWAP = LAYOUT.uint64("wr.atomic.swap");
        public static final int ATOMIC_KEY = LAYOUT.uint32("wr.atomic.rkey");
        public static final int XRC_SHARED_RECEIVE_QUEUE = LAYOUT.align(8).uint32("qp_type.xrc.remote_srqn");
        public static final int BIND_WINDOW = LAYOUT.pointer("bind_mw.mw");
        public static final int BIND_KEY = LAYOUT.uint32("bind_mw.rkey");
        public static final int BIND_REGION = LAYOUT.pointer("bind_mw.bind_info.mr");
        public static final int BIND_ADDRESS = LAYOUT.uint64("bind_mw.bind_info.addr");
        public static final int BIND_LENGTH = LAYOUT.uint64("bind_mw.bind_info.length");
        public static final int BIND_ACCESS = LAYOUT.integer("bind_mw.bind_info.mw_access_flags");
        public static final int BYTES = LAYOUT.bytes();

        private SendRequest() {}
    }

    /** A receive work request. */
    public static final class ReceiveRequest {
        public static final CStructure LAYOUT = new CStructure("struct ibv_recv_wr");

        public static final int ID = LAYOUT.uint64("wr_id");
        public static final int NEXT = LAYOUT.pointer("next");
        public static final int LIST = LAYOUT.pointer("sg_list");
        public static final int LIST_LENGTH = LAYOUT.integer("num_sge");
        public static final int BYTES = LAYOUT.bytes();

        private ReceiveRequest() {}
    }
}
