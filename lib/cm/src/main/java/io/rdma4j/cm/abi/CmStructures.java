package io.rdma4j.cm.abi;

import io.rdma4j.verbs.abi.CStructure;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;

/**
 * The structures of the kernel's connection manager (ABI version 4) and of its addresses. They are the same on all
 * architectures.
 */
public final class CmStructures {
    private CmStructures() {}

    /** Starts each command. */
    public static final class CommandHeader {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_cmd_hdr");

        public static final int COMMAND = LAYOUT.uint32("cmd");
        public static final int REQUEST_BYTES = LAYOUT.uint16("in");
        public static final int RESPONSE_BYTES = LAYOUT.uint16("out");
        public static final int BYTES = LAYOUT.bytes();

        private CommandHeader() {}
    }

    /** Creates an identifier. */
    public static final class CreateId {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_create_id");

        public static final int UID = LAYOUT.uint64("uid");
        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int PORT_SPACE = LAYOUT.uint16("ps");
        public static final int QUEUE_PAIR_TYPE = LAYOUT.uint8("qp_type");
        public static final int BYTES = LAYOUT.gap(5).bytes();

        private CreateId() {}
    }

    /** The number of a new identifier, or of a membership of a multicast group. */
    public static final class CreatedId {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_create_id_resp");

        public static final int ID = LAYOUT.uint32("id");
        public static final int BYTES = LAYOUT.bytes();

        private CreatedId() {}
    }

    /** Destroys an identifier, or leaves a multicast group. */
    public static final class DestroyId {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_destroy_id");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int ID = LAYOUT.uint32("id");
        public static final int BYTES = LAYOUT.skip(4, "reserved").bytes();

        private DestroyId() {}
    }

    /** The response to {@link DestroyId}. */
    public static final class DestroyedId {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_destroy_id_resp");

        public static final int BYTES = LAYOUT.skip(4, "events_reported").bytes();

        private DestroyedId() {}
    }

    /** Binds an identifier. */
    public static final class Bind {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_bind");

        public static final int ID = LAYOUT.uint32("id");
        public static final int ADDRESS_BYTES = LAYOUT.uint16("addr_size");
        public static final int ADDRESS = LAYOUT.skip(2, "reserved").array("addr", 8, 16);
        public static final int BYTES = LAYOUT.bytes();

        private Bind() {}
    }

    /** Binds an identifier to an IP address. */
    public static final class BindIp {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_bind_ip");

        public static final int ADDRESS = LAYOUT.skip(8, "response").structure("addr", Ipv6Address.LAYOUT, 1);
        public static final int ID = LAYOUT.uint32("id");
        public static final int BYTES = LAYOUT.bytes();

        private BindIp() {}
    }

    /** Resolves an IP address. */
    public static final class ResolveIp {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_resolve_ip");

        public static final int SOURCE = LAYOUT.structure("src_addr", Ipv6Address.LAYOUT, 1);
        public static final int DESTINATION = LAYOUT.structure("dst_addr", Ipv6Address.LAYOUT, 1);
        public static final int ID = LAYOUT.uint32("id");
        public static final int TIMEOUT_MILLIS = LAYOUT.uint32("timeout_ms");
        public static final int BYTES = LAYOUT.bytes();

        private ResolveIp() {}
    }

    /** Resolves an address. */
    public static final class ResolveAddress {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_resolve_addr");

        public static final int ID = LAYOUT.uint32("id");
        public static final int TIMEOUT_MILLIS = LAYOUT.uint32("timeout_ms");
        public static final int SOURCE_BYTES = LAYOUT.uint16("src_size");
        public static final int DESTINATION_BYTES = LAYOUT.uint16("dst_size");
        public static final int SOURCE = LAYOUT.skip(4, "reserved").array("src_addr", 8, 16);
        public static final int DESTINATION = LAYOUT.array("dst_addr", 8, 16);
        public static final int BYTES = LAYOUT.bytes();

        private ResolveAddress() {}
    }

    /** Resolves a route. */
    public static final class ResolveRoute {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_resolve_route");

        public static final int ID = LAYOUT.uint32("id");
        public static final int TIMEOUT_MILLIS = LAYOUT.uint32("timeout_ms");
        public static final int BYTES = LAYOUT.bytes();

        private ResolveRoute() {}
    }

    /** Queries an identifier. */
    public static final class Query {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_query");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int ID = LAYOUT.uint32("id");
        public static final int OPTION = LAYOUT.uint32("option");
        public static final int BYTES = LAYOUT.bytes();

        private Query() {}
    }

    /** The addresses and the device of an identifier. */
    public static final class QueriedAddresses {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_query_addr_resp");

        public static final int NODE_GUID = LAYOUT.uint64("node_guid");
        public static final int PORT = LAYOUT.uint8("port_num");
        public static final int PARTITION_KEY = LAYOUT.skip(1, "reserved").uint16("pkey");
        public static final int LOCAL_BYTES = LAYOUT.uint16("src_size");
        public static final int PEER_BYTES = LAYOUT.uint16("dst_size");
        public static final int LOCAL = LAYOUT.array("src_addr", 8, 16);
        public static final int PEER = LAYOUT.array("dst_addr", 8, 16);
        public static final int DEVICE_INDEX = LAYOUT.uint32("ibdev_index");
        public static final int BYTES = LAYOUT.skip(4, "reserved1").bytes();

        private QueriedAddresses() {}
    }

    /** The route of an identifier, with its IP addresses and its device. */
    public static final class QueriedRoute {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_query_route_resp");

        public static final int NODE_GUID = LAYOUT.uint64("node_guid");
        public static final int PATHS = LAYOUT.structure("ib_route", UserPath.LAYOUT, 2);
        public static final int LOCAL = LAYOUT.structure("src_addr", Ipv6Address.LAYOUT, 1);
        public static final int PEER = LAYOUT.structure("dst_addr", Ipv6Address.LAYOUT, 1);
        public static final int PATH_COUNT = LAYOUT.uint32("num_paths");
        public static final int PORT = LAYOUT.uint8("port_num");
        public static final int DEVICE_INDEX = LAYOUT.gap(3).uint32("ibdev_index");
        public static final int BYTES = LAYOUT.skip(4, "reserved1").bytes();

        private QueriedRoute() {}
    }

    /** A path of {@link QueriedRoute}. Its 16-bit numbers and its flow label are in network byte order. */
    public static final class UserPath {
        public static final CStructure LAYOUT = new CStructure("struct ib_user_path_rec");

        public static final int DESTINATION_GID = LAYOUT.array("dgid", 1, 16);
        public static final int SOURCE_GID = LAYOUT.array("sgid", 1, 16);
        public static final int FLOW_LABEL =
                LAYOUT.skip(2, "dlid", "slid").skip(4, "raw_traffic").uint32("flow_label");
        public static final int REVERSIBLE = LAYOUT.uint32("reversible");
        public static final int MTU = LAYOUT.uint32("mtu");
        public static final int PARTITION_KEY = LAYOUT.uint16("pkey");
        public static final int HOP_LIMIT = LAYOUT.uint8("hop_limit");
        public static final int TRAFFIC_CLASS = LAYOUT.uint8("traffic_class");
        public static final int PATH_COUNT = LAYOUT.uint8("numb_path");
        public static final int SERVICE_LEVEL = LAYOUT.uint8("sl");
        public static final int MTU_SELECTOR = LAYOUT.uint8("mtu_selector");
        public static final int RATE_SELECTOR = LAYOUT.uint8("rate_selector");
        public static final int PACKET_LIFETIME_SELECTOR =
                LAYOUT.skip(1, "rate").uint8("packet_life_time_selector");
        public static final int PACKET_LIFETIME = LAYOUT.uint8("packet_life_time");
        public static final int BYTES = LAYOUT.skip(1, "preference").bytes();

        private UserPath() {}
    }

    /** The paths of an identifier. A {@link PathData} for each path follows. */
    public static final class QueriedPaths {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_query_path_resp");

        public static final int PATH_COUNT = LAYOUT.uint32("num_paths");
        public static final int PATHS = LAYOUT.skip(4, "reserved").structure("path_data", PathData.LAYOUT, 0);
        public static final int BYTES = LAYOUT.bytes();

        private QueriedPaths() {}
    }

    /** The parameters of a connection. */
    public static final class Parameters {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_conn_param");

        public static final int QUEUE_PAIR = LAYOUT.uint32("qp_num");
        public static final int PRIVATE_DATA = LAYOUT.skip(4, "qkey").array("private_data", 1, 256);
        public static final int PRIVATE_DATA_BYTES = LAYOUT.uint8("private_data_len");
        public static final int SHARED_RECEIVE_QUEUE = LAYOUT.uint8("srq");
        public static final int RESPONDER_RESOURCES = LAYOUT.uint8("responder_resources");
        public static final int INITIATOR_DEPTH = LAYOUT.uint8("initiator_depth");
        public static final int FLOW_CONTROL = LAYOUT.uint8("flow_control");
        public static final int RETRY_COUNT = LAYOUT.uint8("retry_count");
        public static final int RNR_RETRY_COUNT = LAYOUT.uint8("rnr_retry_count");
        public static final int IS_VALID = LAYOUT.uint8("valid");
        public static final int BYTES = LAYOUT.bytes();

        private Parameters() {}
    }

    /** The parameters of a datagram service or a multicast group. */
    public static final class DatagramService {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_ud_param");

        public static final int QUEUE_PAIR = LAYOUT.uint32("qp_num");
        public static final int QUEUE_KEY = LAYOUT.uint32("qkey");
        public static final int PATH = LAYOUT.array("ah_attr", 4, AddressVectorFields.BYTES / 4);
        public static final int PRIVATE_DATA = LAYOUT.array("private_data", 1, 256);
        public static final int PRIVATE_DATA_BYTES = LAYOUT.uint8("private_data_len");
        public static final int BYTES = LAYOUT.gap(7).bytes();

        private DatagramService() {}
    }

    /** The options of enhanced connection establishment. */
    public static final class Enhancement {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_ece");

        public static final int VENDOR = LAYOUT.uint32("vendor_id");
        public static final int OPTIONS = LAYOUT.uint32("attr_mod");
        public static final int BYTES = LAYOUT.bytes();

        private Enhancement() {}
    }

    /** Connects an identifier. */
    public static final class Connect {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_connect");

        public static final int PARAMETERS = LAYOUT.structure("conn_param", Parameters.LAYOUT, 1);
        public static final int ID = LAYOUT.uint32("id");
        public static final int ENHANCEMENT = LAYOUT.skip(4, "reserved").structure("ece", Enhancement.LAYOUT, 1);
        public static final int BYTES = LAYOUT.bytes();

        private Connect() {}
    }

    /** Listens for requests. */
    public static final class Listen {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_listen");

        public static final int ID = LAYOUT.uint32("id");
        public static final int BACKLOG = LAYOUT.uint32("backlog");
        public static final int BYTES = LAYOUT.bytes();

        private Listen() {}
    }

    /** Accepts a request, or the reply of the peer. */
    public static final class Accept {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_accept");

        public static final int UID = LAYOUT.uint64("uid");
        public static final int PARAMETERS = LAYOUT.structure("conn_param", Parameters.LAYOUT, 1);
        public static final int ID = LAYOUT.uint32("id");
        public static final int ENHANCEMENT = LAYOUT.skip(4, "reserved").structure("ece", Enhancement.LAYOUT, 1);
        public static final int BYTES = LAYOUT.bytes();

        private Accept() {}
    }

    /** Rejects a request. */
    public static final class Reject {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_reject");

        public static final int ID = LAYOUT.uint32("id");
        public static final int PRIVATE_DATA_BYTES = LAYOUT.uint8("private_data_len");
        public static final int REASON = LAYOUT.uint8("reason");
        public static final int PRIVATE_DATA = LAYOUT.gap(2).array("private_data", 1, 256);
        public static final int BYTES = LAYOUT.bytes();

        private Reject() {}
    }

    /** Ends a connection. */
    public static final class Disconnect {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_disconnect");

        public static final int ID = LAYOUT.uint32("id");
        public static final int BYTES = LAYOUT.bytes();

        private Disconnect() {}
    }

    /** Queries the attributes for a state of a queue pair. */
    public static final class InitializeAttributes {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_init_qp_attr");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int ID = LAYOUT.uint32("id");
        public static final int STATE = LAYOUT.uint32("qp_state");
        public static final int BYTES = LAYOUT.bytes();

        private InitializeAttributes() {}
    }

    /** The attributes of a queue pair. */
    public static final class Attributes {
        public static final CStructure LAYOUT = new CStructure("struct ib_uverbs_qp_attr");

        public static final int MASK = LAYOUT.uint32("qp_attr_mask");
        public static final int STATE = LAYOUT.uint32("qp_state");
        public static final int CURRENT_STATE = LAYOUT.uint32("cur_qp_state");
        public static final int PATH_MTU = LAYOUT.uint32("path_mtu");
        public static final int QUEUE_KEY = LAYOUT.skip(4, "path_mig_state").uint32("qkey");
        public static final int RECEIVE_PSN = LAYOUT.uint32("rq_psn");
        public static final int SEND_PSN = LAYOUT.uint32("sq_psn");
        public static final int DESTINATION_QUEUE_PAIR = LAYOUT.uint32("dest_qp_num");
        public static final int ACCESS_FLAGS = LAYOUT.uint32("qp_access_flags");
        public static final int PATH = LAYOUT.array("ah_attr", 4, AddressVectorFields.BYTES / 4);
        public static final int PARTITION_KEY_INDEX = LAYOUT.skip(AddressVectorFields.BYTES, "alt_ah_attr")
                .skip(4, "max_send_wr", "max_recv_wr", "max_send_sge", "max_recv_sge", "max_inline_data")
                .uint16("pkey_index");
        public static final int MAX_READ_ATOMIC = LAYOUT.skip(2, "alt_pkey_index")
                .skip(1, "en_sqd_async_notify", "sq_draining")
                .uint8("max_rd_atomic");
        public static final int MAX_DESTINATION_READ_ATOMIC = LAYOUT.uint8("max_dest_rd_atomic");
        public static final int MIN_RNR_TIMER = LAYOUT.uint8("min_rnr_timer");
        public static final int PORT = LAYOUT.uint8("port_num");
        public static final int TIMEOUT = LAYOUT.uint8("timeout");
        public static final int RETRY_COUNT = LAYOUT.uint8("retry_cnt");
        public static final int RNR_RETRY = LAYOUT.uint8("rnr_retry");
        public static final int BYTES =
                LAYOUT.skip(1, "alt_port_num", "alt_timeout").gap(5).bytes();

        private Attributes() {}
    }

    /** Reports an asynchronous event of the queue pair. */
    public static final class Notify {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_notify");

        public static final int ID = LAYOUT.uint32("id");
        public static final int EVENT = LAYOUT.uint32("event");
        public static final int BYTES = LAYOUT.bytes();

        private Notify() {}
    }

    /** Joins a multicast group of an IP address. */
    public static final class JoinIpGroup {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_join_ip_mcast");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int UID = LAYOUT.uint64("uid");
        public static final int ADDRESS = LAYOUT.structure("addr", Ipv6Address.LAYOUT, 1);
        public static final int ID = LAYOUT.uint32("id");
        public static final int BYTES = LAYOUT.bytes();

        private JoinIpGroup() {}
    }

    /** Joins a multicast group. */
    public static final class JoinGroup {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_join_mcast");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int UID = LAYOUT.uint64("uid");
        public static final int ID = LAYOUT.uint32("id");
        public static final int ADDRESS_BYTES = LAYOUT.uint16("addr_size");
        public static final int FLAGS = LAYOUT.uint16("join_flags");
        public static final int ADDRESS = LAYOUT.array("addr", 8, 16);
        public static final int BYTES = LAYOUT.bytes();

        private JoinGroup() {}
    }

    /** Takes an event. */
    public static final class GetEvent {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_get_event");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int BYTES = LAYOUT.bytes();

        private GetEvent() {}
    }

    /** An event. */
    public static final class Event {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_event_resp");

        public static final int UID = LAYOUT.uint64("uid");
        public static final int ID = LAYOUT.uint32("id");
        public static final int TYPE = LAYOUT.uint32("event");
        public static final int STATUS = LAYOUT.uint32("status");
        public static final int PARAMETERS = LAYOUT.structure("param", DatagramService.LAYOUT, 1);
        public static final int ENHANCEMENT = LAYOUT.skip(4, "reserved").structure("ece", Enhancement.LAYOUT, 1);
        public static final int BYTES = LAYOUT.bytes();

        private Event() {}
    }

    /** Moves an identifier to another open file. */
    public static final class MigrateId {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_migrate_id");

        public static final int RESPONSE = LAYOUT.uint64("response");
        public static final int ID = LAYOUT.uint32("id");
        public static final int BYTES = LAYOUT.skip(4, "fd").bytes();

        private MigrateId() {}
    }

    /** The response to {@link MigrateId}. */
    public static final class MigratedId {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_migrate_resp");

        public static final int BYTES = LAYOUT.skip(4, "events_reported").bytes();

        private MigratedId() {}
    }

    /** Writes an event. C: {@code struct rdma_ucm_write_cm_event} of the headers of 2025 and newer. */
    public static final class WriteEvent {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_write_cm_event");

        public static final int ID = LAYOUT.uint32("id");
        public static final int TYPE = LAYOUT.skip(4, "reserved").uint32("event");
        public static final int STATUS = LAYOUT.uint32("status");
        public static final int ARGUMENT = LAYOUT.uint64("param.arg");

        /** The size without the members of the union that no command uses yet. */
        public static final int BYTES = ARGUMENT + Long.BYTES;

        private WriteEvent() {}
    }

    /** Sets an option. */
    public static final class SetOption {
        public static final CStructure LAYOUT = new CStructure("struct rdma_ucm_set_option");

        public static final int VALUE = LAYOUT.uint64("optval");
        public static final int ID = LAYOUT.uint32("id");
        public static final int LEVEL = LAYOUT.uint32("level");
        public static final int NAME = LAYOUT.uint32("optname");
        public static final int VALUE_BYTES = LAYOUT.uint32("optlen");
        public static final int BYTES = LAYOUT.bytes();

        private SetOption() {}
    }

    /** A path record with its flags. */
    public static final class PathData {
        public static final CStructure LAYOUT = new CStructure("struct ib_path_rec_data");

        public static final int FLAGS = LAYOUT.uint32("flags");
        public static final int RECORD = LAYOUT.skip(4, "reserved").array("path_rec", 4, 16);
        public static final int BYTES = LAYOUT.bytes();

        private PathData() {}
    }

    /** The path record of {@link PathData}. Its numbers are in network byte order. */
    public static final class PathRecordFields {
        public static final CStructure LAYOUT = new CStructure("struct ibv_path_record");

        public static final int DESTINATION_GID = LAYOUT.skip(8, "service_id").array("dgid", 8, 2);
        public static final int SOURCE_GID = LAYOUT.array("sgid", 8, 2);
        public static final int FLOW_LABEL_AND_HOP_LIMIT =
                LAYOUT.skip(2, "dlid", "slid").uint32("flowlabel_hoplimit");
        public static final int TRAFFIC_CLASS = LAYOUT.uint8("tclass");
        public static final int REVERSIBLE_AND_PATHS = LAYOUT.uint8("reversible_numpath");
        public static final int PARTITION_KEY = LAYOUT.uint16("pkey");
        public static final int SERVICE_LEVEL = LAYOUT.uint16("qosclass_sl");
        public static final int MTU = LAYOUT.uint8("mtu");
        public static final int RATE = LAYOUT.uint8("rate");
        public static final int PACKET_LIFETIME = LAYOUT.uint8("packetlifetime");

        private PathRecordFields() {}
    }

    /** An IPv4 address. The port of an IPv6 address is at the same offset. */
    public static final class Ipv4Address {
        public static final CStructure LAYOUT = new CStructure("struct sockaddr_in");

        public static final int PORT = LAYOUT.skip(2, "sin_family").uint16("sin_port");
        public static final int ADDRESS = LAYOUT.uint32("sin_addr");
        public static final int BYTES = LAYOUT.gap(8).bytes();

        private Ipv4Address() {}
    }

    /** An IPv6 address. */
    public static final class Ipv6Address {
        public static final CStructure LAYOUT = new CStructure("struct sockaddr_in6");

        public static final int ADDRESS = LAYOUT.skip(2, "sin6_family", "sin6_port")
                .skip(4, "sin6_flowinfo")
                .array("sin6_addr", 4, 4);
        public static final int SCOPE = LAYOUT.uint32("sin6_scope_id");
        public static final int BYTES = LAYOUT.bytes();

        private Ipv6Address() {}
    }

    /** An InfiniBand address. */
    public static final class InfinibandAddress {
        public static final CStructure LAYOUT = new CStructure("struct sockaddr_ib");

        public static final int PARTITION_KEY = LAYOUT.skip(2, "sib_family").uint16("sib_pkey");
        public static final int ADDRESS = LAYOUT.skip(4, "sib_flowinfo").array("sib_addr", 8, 2);
        public static final int SERVICE = LAYOUT.uint64("sib_sid");
        public static final int BYTES =
                LAYOUT.skip(8, "sib_sid_mask", "sib_scope_id").bytes();

        private InfinibandAddress() {}
    }
}
