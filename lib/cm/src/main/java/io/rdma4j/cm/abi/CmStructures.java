package io.rdma4j.cm.abi;

import io.rdma4j.verbs.abi.CName;
import io.rdma4j.verbs.abi.CStruct;

/**
 * The structures of the kernel's connection manager (ABI version 4), as offsets in bytes. They are the same on all
 * architectures.
 */
public final class CmStructures {
    private CmStructures() {}

    /** Starts each command. */
    @CStruct("struct rdma_ucm_cmd_hdr")
    public static final class CommandHeader {
        public static final int BYTES = 8;

        @CName("cmd")
        public static final int COMMAND = 0;

        @CName("in")
        public static final int REQUEST_BYTES = 4;

        @CName("out")
        public static final int RESPONSE_BYTES = 6;

        private CommandHeader() {}
    }

    /** Creates an identifier. */
    @CStruct("struct rdma_ucm_create_id")
    public static final class CreateId {
        public static final int BYTES = 24;

        @CName("uid")
        public static final int UID = 0;

        @CName("response")
        public static final int RESPONSE = 8;

        @CName("ps")
        public static final int PORT_SPACE = 16;

        @CName("qp_type")
        public static final int QUEUE_PAIR_TYPE = 18;

        private CreateId() {}
    }

    /** The number of a new identifier, or of a membership of a multicast group. */
    @CStruct("struct rdma_ucm_create_id_resp")
    public static final class CreatedId {
        public static final int BYTES = 4;

        @CName("id")
        public static final int ID = 0;

        private CreatedId() {}
    }

    /** Destroys an identifier, or leaves a multicast group. */
    @CStruct("struct rdma_ucm_destroy_id")
    public static final class DestroyId {
        public static final int BYTES = 16;

        @CName("response")
        public static final int RESPONSE = 0;

        @CName("id")
        public static final int ID = 8;

        private DestroyId() {}
    }

    /** The response to {@link DestroyId}. */
    @CStruct("struct rdma_ucm_destroy_id_resp")
    public static final class DestroyedId {
        public static final int BYTES = 4;

        @CName("events_reported")
        public static final int EVENTS_REPORTED = 0;

        private DestroyedId() {}
    }

    /** Binds an identifier. */
    @CStruct("struct rdma_ucm_bind")
    public static final class Bind {
        public static final int BYTES = 136;

        @CName("id")
        public static final int ID = 0;

        @CName("addr_size")
        public static final int ADDRESS_BYTES = 4;

        @CName("addr")
        public static final int ADDRESS = 8;

        private Bind() {}
    }

    /** Binds an identifier to an IP address. */
    @CStruct("struct rdma_ucm_bind_ip")
    public static final class BindIp {
        public static final int BYTES = 40;

        @CName("addr")
        public static final int ADDRESS = 8;

        @CName("id")
        public static final int ID = 36;

        private BindIp() {}
    }

    /** Resolves an IP address. */
    @CStruct("struct rdma_ucm_resolve_ip")
    public static final class ResolveIp {
        public static final int BYTES = 64;

        @CName("src_addr")
        public static final int SOURCE = 0;

        @CName("dst_addr")
        public static final int DESTINATION = 28;

        @CName("id")
        public static final int ID = 56;

        @CName("timeout_ms")
        public static final int TIMEOUT_MILLIS = 60;

        private ResolveIp() {}
    }

    /** Resolves an address. */
    @CStruct("struct rdma_ucm_resolve_addr")
    public static final class ResolveAddress {
        public static final int BYTES = 272;

        @CName("id")
        public static final int ID = 0;

        @CName("timeout_ms")
        public static final int TIMEOUT_MILLIS = 4;

        @CName("src_size")
        public static final int SOURCE_BYTES = 8;

        @CName("dst_size")
        public static final int DESTINATION_BYTES = 10;

        @CName("src_addr")
        public static final int SOURCE = 16;

        @CName("dst_addr")
        public static final int DESTINATION = 144;

        private ResolveAddress() {}
    }

    /** Resolves a route. */
    @CStruct("struct rdma_ucm_resolve_route")
    public static final class ResolveRoute {
        public static final int BYTES = 8;

        @CName("id")
        public static final int ID = 0;

        @CName("timeout_ms")
        public static final int TIMEOUT_MILLIS = 4;

        private ResolveRoute() {}
    }

    /** Queries an identifier. */
    @CStruct("struct rdma_ucm_query")
    public static final class Query {
        public static final int BYTES = 16;

        @CName("response")
        public static final int RESPONSE = 0;

        @CName("id")
        public static final int ID = 8;

        @CName("option")
        public static final int OPTION = 12;

        private Query() {}
    }

    /** The addresses and the device of an identifier. */
    @CStruct("struct rdma_ucm_query_addr_resp")
    public static final class QueriedAddresses {
        public static final int BYTES = 280;

        @CName("node_guid")
        public static final int NODE_GUID = 0;

        @CName("port_num")
        public static final int PORT = 8;

        @CName("pkey")
        public static final int PARTITION_KEY = 10;

        @CName("src_size")
        public static final int LOCAL_BYTES = 12;

        @CName("dst_size")
        public static final int PEER_BYTES = 14;

        @CName("src_addr")
        public static final int LOCAL = 16;

        @CName("dst_addr")
        public static final int PEER = 144;

        @CName("ibdev_index")
        public static final int DEVICE_INDEX = 272;

        private QueriedAddresses() {}
    }

    /** The route of an identifier, with its IP addresses and its device. */
    @CStruct("struct rdma_ucm_query_route_resp")
    public static final class QueriedRoute {
        public static final int BYTES = 208;

        @CName("node_guid")
        public static final int NODE_GUID = 0;

        @CName("ib_route")
        public static final int PATHS = 8;

        @CName("src_addr")
        public static final int LOCAL = 136;

        @CName("dst_addr")
        public static final int PEER = 164;

        @CName("num_paths")
        public static final int PATH_COUNT = 192;

        @CName("port_num")
        public static final int PORT = 196;

        @CName("ibdev_index")
        public static final int DEVICE_INDEX = 200;

        private QueriedRoute() {}
    }

    /** A path of {@link QueriedRoute}. Its 16-bit numbers and its flow label are in network byte order. */
    @CStruct("struct ib_user_path_rec")
    public static final class UserPath {
        public static final int BYTES = 64;

        @CName("dgid")
        public static final int DESTINATION_GID = 0;

        @CName("sgid")
        public static final int SOURCE_GID = 16;

        @CName("flow_label")
        public static final int FLOW_LABEL = 40;

        @CName("reversible")
        public static final int REVERSIBLE = 44;

        @CName("mtu")
        public static final int MTU = 48;

        @CName("pkey")
        public static final int PARTITION_KEY = 52;

        @CName("hop_limit")
        public static final int HOP_LIMIT = 54;

        @CName("traffic_class")
        public static final int TRAFFIC_CLASS = 55;

        @CName("numb_path")
        public static final int PATH_COUNT = 56;

        @CName("sl")
        public static final int SERVICE_LEVEL = 57;

        @CName("mtu_selector")
        public static final int MTU_SELECTOR = 58;

        @CName("rate_selector")
        public static final int RATE_SELECTOR = 59;

        @CName("packet_life_time_selector")
        public static final int PACKET_LIFETIME_SELECTOR = 61;

        @CName("packet_life_time")
        public static final int PACKET_LIFETIME = 62;

        private UserPath() {}
    }

    /** The paths of an identifier. A {@link PathData} for each path follows. */
    @CStruct("struct rdma_ucm_query_path_resp")
    public static final class QueriedPaths {
        public static final int BYTES = 8;

        @CName("num_paths")
        public static final int PATH_COUNT = 0;

        @CName("path_data")
        public static final int PATHS = 8;

        private QueriedPaths() {}
    }

    /** The parameters of a connection. */
    @CStruct("struct rdma_ucm_conn_param")
    public static final class Parameters {
        public static final int BYTES = 272;

        @CName("qp_num")
        public static final int QUEUE_PAIR = 0;

        @CName("qkey")
        public static final int QUEUE_KEY = 4;

        @CName("private_data")
        public static final int PRIVATE_DATA = 8;

        @CName("private_data_len")
        public static final int PRIVATE_DATA_BYTES = 264;

        @CName("srq")
        public static final int SHARED_RECEIVE_QUEUE = 265;

        @CName("responder_resources")
        public static final int RESPONDER_RESOURCES = 266;

        @CName("initiator_depth")
        public static final int INITIATOR_DEPTH = 267;

        @CName("flow_control")
        public static final int FLOW_CONTROL = 268;

        @CName("retry_count")
        public static final int RETRY_COUNT = 269;

        @CName("rnr_retry_count")
        public static final int RNR_RETRY_COUNT = 270;

        @CName("valid")
        public static final int IS_VALID = 271;

        private Parameters() {}
    }

    /** The parameters of a datagram service or a multicast group. */
    @CStruct("struct rdma_ucm_ud_param")
    public static final class DatagramService {
        public static final int BYTES = 304;

        @CName("qp_num")
        public static final int QUEUE_PAIR = 0;

        @CName("qkey")
        public static final int QUEUE_KEY = 4;

        @CName("ah_attr")
        public static final int PATH = 8;

        @CName("private_data")
        public static final int PRIVATE_DATA = 40;

        @CName("private_data_len")
        public static final int PRIVATE_DATA_BYTES = 296;

        private DatagramService() {}
    }

    /** The options of enhanced connection establishment. */
    @CStruct("struct rdma_ucm_ece")
    public static final class Enhancement {
        public static final int BYTES = 8;

        @CName("vendor_id")
        public static final int VENDOR = 0;

        @CName("attr_mod")
        public static final int OPTIONS = 4;

        private Enhancement() {}
    }

    /** Connects an identifier. */
    @CStruct("struct rdma_ucm_connect")
    public static final class Connect {
        public static final int BYTES = 288;

        @CName("conn_param")
        public static final int PARAMETERS = 0;

        @CName("id")
        public static final int ID = 272;

        @CName("ece")
        public static final int ENHANCEMENT = 280;

        private Connect() {}
    }

    /** Listens for requests. */
    @CStruct("struct rdma_ucm_listen")
    public static final class Listen {
        public static final int BYTES = 8;

        @CName("id")
        public static final int ID = 0;

        @CName("backlog")
        public static final int BACKLOG = 4;

        private Listen() {}
    }

    /** Accepts a request, or the reply of the peer. */
    @CStruct("struct rdma_ucm_accept")
    public static final class Accept {
        public static final int BYTES = 296;

        @CName("uid")
        public static final int UID = 0;

        @CName("conn_param")
        public static final int PARAMETERS = 8;

        @CName("id")
        public static final int ID = 280;

        @CName("ece")
        public static final int ENHANCEMENT = 288;

        private Accept() {}
    }

    /** Rejects a request. */
    @CStruct("struct rdma_ucm_reject")
    public static final class Reject {
        public static final int BYTES = 264;

        @CName("id")
        public static final int ID = 0;

        @CName("private_data_len")
        public static final int PRIVATE_DATA_BYTES = 4;

        @CName("reason")
        public static final int REASON = 5;

        @CName("private_data")
        public static final int PRIVATE_DATA = 8;

        private Reject() {}
    }

    /** Ends a connection. */
    @CStruct("struct rdma_ucm_disconnect")
    public static final class Disconnect {
        public static final int BYTES = 4;

        @CName("id")
        public static final int ID = 0;

        private Disconnect() {}
    }

    /** Queries the attributes for a state of a queue pair. */
    @CStruct("struct rdma_ucm_init_qp_attr")
    public static final class InitializeAttributes {
        public static final int BYTES = 16;

        @CName("response")
        public static final int RESPONSE = 0;

        @CName("id")
        public static final int ID = 8;

        @CName("qp_state")
        public static final int STATE = 12;

        private InitializeAttributes() {}
    }

    /** The attributes of a queue pair. */
    @CStruct("struct ib_uverbs_qp_attr")
    public static final class Attributes {
        public static final int BYTES = 144;

        @CName("qp_attr_mask")
        public static final int MASK = 0;

        @CName("qp_state")
        public static final int STATE = 4;

        @CName("cur_qp_state")
        public static final int CURRENT_STATE = 8;

        @CName("path_mtu")
        public static final int PATH_MTU = 12;

        @CName("qkey")
        public static final int QUEUE_KEY = 20;

        @CName("rq_psn")
        public static final int RECEIVE_PSN = 24;

        @CName("sq_psn")
        public static final int SEND_PSN = 28;

        @CName("dest_qp_num")
        public static final int DESTINATION_QUEUE_PAIR = 32;

        @CName("qp_access_flags")
        public static final int ACCESS_FLAGS = 36;

        @CName("ah_attr")
        public static final int PATH = 40;

        @CName("pkey_index")
        public static final int PARTITION_KEY_INDEX = 124;

        @CName("max_rd_atomic")
        public static final int MAX_READ_ATOMIC = 130;

        @CName("max_dest_rd_atomic")
        public static final int MAX_DESTINATION_READ_ATOMIC = 131;

        @CName("min_rnr_timer")
        public static final int MIN_RNR_TIMER = 132;

        @CName("port_num")
        public static final int PORT = 133;

        @CName("timeout")
        public static final int TIMEOUT = 134;

        @CName("retry_cnt")
        public static final int RETRY_COUNT = 135;

        @CName("rnr_retry")
        public static final int RNR_RETRY = 136;

        private Attributes() {}
    }

    /** The path to a peer. */
    @CStruct("struct ib_uverbs_ah_attr")
    public static final class PathToPeer {
        public static final int BYTES = 32;

        @CName("grh.dgid")
        public static final int DESTINATION_GID = 0;

        @CName("grh.flow_label")
        public static final int FLOW_LABEL = 16;

        @CName("grh.sgid_index")
        public static final int SOURCE_GID_INDEX = 20;

        @CName("grh.hop_limit")
        public static final int HOP_LIMIT = 21;

        @CName("grh.traffic_class")
        public static final int TRAFFIC_CLASS = 22;

        @CName("sl")
        public static final int SERVICE_LEVEL = 26;

        @CName("static_rate")
        public static final int STATIC_RATE = 28;

        @CName("is_global")
        public static final int IS_GLOBAL = 29;

        @CName("port_num")
        public static final int PORT = 30;

        private PathToPeer() {}
    }

    /** Reports an asynchronous event of the queue pair. */
    @CStruct("struct rdma_ucm_notify")
    public static final class Notify {
        public static final int BYTES = 8;

        @CName("id")
        public static final int ID = 0;

        @CName("event")
        public static final int EVENT = 4;

        private Notify() {}
    }

    /** Joins a multicast group of an IP address. */
    @CStruct("struct rdma_ucm_join_ip_mcast")
    public static final class JoinIpGroup {
        public static final int BYTES = 48;

        @CName("response")
        public static final int RESPONSE = 0;

        @CName("uid")
        public static final int UID = 8;

        @CName("addr")
        public static final int ADDRESS = 16;

        @CName("id")
        public static final int ID = 44;

        private JoinIpGroup() {}
    }

    /** Joins a multicast group. */
    @CStruct("struct rdma_ucm_join_mcast")
    public static final class JoinGroup {
        public static final int BYTES = 152;

        @CName("response")
        public static final int RESPONSE = 0;

        @CName("uid")
        public static final int UID = 8;

        @CName("id")
        public static final int ID = 16;

        @CName("addr_size")
        public static final int ADDRESS_BYTES = 20;

        @CName("join_flags")
        public static final int FLAGS = 22;

        @CName("addr")
        public static final int ADDRESS = 24;

        private JoinGroup() {}
    }

    /** Takes an event. */
    @CStruct("struct rdma_ucm_get_event")
    public static final class GetEvent {
        public static final int BYTES = 8;

        @CName("response")
        public static final int RESPONSE = 0;

        private GetEvent() {}
    }

    /** An event. */
    @CStruct("struct rdma_ucm_event_resp")
    public static final class Event {
        public static final int BYTES = 336;

        @CName("uid")
        public static final int UID = 0;

        @CName("id")
        public static final int ID = 8;

        @CName("event")
        public static final int TYPE = 12;

        @CName("status")
        public static final int STATUS = 16;

        @CName("param")
        public static final int PARAMETERS = 20;

        @CName("ece")
        public static final int ENHANCEMENT = 328;

        private Event() {}
    }

    /** Moves an identifier to another open file. */
    @CStruct("struct rdma_ucm_migrate_id")
    public static final class MigrateId {
        public static final int BYTES = 16;

        @CName("response")
        public static final int RESPONSE = 0;

        @CName("id")
        public static final int ID = 8;

        @CName("fd")
        public static final int DESCRIPTOR = 12;

        private MigrateId() {}
    }

    /** The response to {@link MigrateId}. */
    @CStruct("struct rdma_ucm_migrate_resp")
    public static final class MigratedId {
        public static final int BYTES = 4;

        @CName("events_reported")
        public static final int EVENTS_REPORTED = 0;

        private MigratedId() {}
    }

    /** Writes an event: {@code struct rdma_ucm_write_cm_event} of the headers of 2025 and newer. */
    public static final class WriteEvent {
        /** The size without the members of the union that no command uses yet. */
        public static final int BYTES = 24;

        /** {@code id}. */
        public static final int ID = 0;

        /** {@code event}. */
        public static final int TYPE = 8;

        /** {@code status}. */
        public static final int STATUS = 12;

        /** {@code param.arg}. */
        public static final int ARGUMENT = 16;

        private WriteEvent() {}
    }

    /** Sets an option. */
    @CStruct("struct rdma_ucm_set_option")
    public static final class SetOption {
        public static final int BYTES = 24;

        @CName("optval")
        public static final int VALUE = 0;

        @CName("id")
        public static final int ID = 8;

        @CName("level")
        public static final int LEVEL = 12;

        @CName("optname")
        public static final int NAME = 16;

        @CName("optlen")
        public static final int VALUE_BYTES = 20;

        private SetOption() {}
    }

    /** A path record with its flags. */
    @CStruct("struct ib_path_rec_data")
    public static final class PathData {
        public static final int BYTES = 72;

        @CName("flags")
        public static final int FLAGS = 0;

        @CName("path_rec")
        public static final int RECORD = 8;

        private PathData() {}
    }
}
