package io.rdma4j.hardware.cm;

import io.rdma4j.hardware.abi.CName;
import io.rdma4j.hardware.abi.CStruct;

/**
 * The structures of the kernel's connection manager, of version 4 of its ABI, as offsets in bytes. They are the same on all
 * architectures.
 */
final class CmStructures {
    private CmStructures() {}

    /** Begins each command. */
    @CStruct("struct rdma_ucm_cmd_hdr")
    static final class CommandHeader {
        static final int BYTES = 8;

        @CName("cmd")
        static final int COMMAND = 0;

        @CName("in")
        static final int REQUEST_BYTES = 4;

        @CName("out")
        static final int RESPONSE_BYTES = 6;

        private CommandHeader() {}
    }

    /** Creates an identifier. */
    @CStruct("struct rdma_ucm_create_id")
    static final class CreateId {
        static final int BYTES = 24;

        @CName("uid")
        static final int UID = 0;

        @CName("response")
        static final int RESPONSE = 8;

        @CName("ps")
        static final int PORT_SPACE = 16;

        @CName("qp_type")
        static final int QUEUE_PAIR_TYPE = 18;

        private CreateId() {}
    }

    /** The number of a new identifier, or of a membership of a multicast group. */
    @CStruct("struct rdma_ucm_create_id_resp")
    static final class CreatedId {
        static final int BYTES = 4;

        @CName("id")
        static final int ID = 0;

        private CreatedId() {}
    }

    /** Destroys an identifier, or leaves a multicast group. */
    @CStruct("struct rdma_ucm_destroy_id")
    static final class DestroyId {
        static final int BYTES = 16;

        @CName("response")
        static final int RESPONSE = 0;

        @CName("id")
        static final int ID = 8;

        private DestroyId() {}
    }

    /** The answer to {@link DestroyId}. */
    @CStruct("struct rdma_ucm_destroy_id_resp")
    static final class DestroyedId {
        static final int BYTES = 4;

        @CName("events_reported")
        static final int EVENTS_REPORTED = 0;

        private DestroyedId() {}
    }

    /** Binds an identifier. */
    @CStruct("struct rdma_ucm_bind")
    static final class Bind {
        static final int BYTES = 136;

        @CName("id")
        static final int ID = 0;

        @CName("addr_size")
        static final int ADDRESS_BYTES = 4;

        @CName("addr")
        static final int ADDRESS = 8;

        private Bind() {}
    }

    /** Resolves an address. */
    @CStruct("struct rdma_ucm_resolve_addr")
    static final class ResolveAddress {
        static final int BYTES = 272;

        @CName("id")
        static final int ID = 0;

        @CName("timeout_ms")
        static final int TIMEOUT_MILLIS = 4;

        @CName("src_size")
        static final int SOURCE_BYTES = 8;

        @CName("dst_size")
        static final int DESTINATION_BYTES = 10;

        @CName("src_addr")
        static final int SOURCE = 16;

        @CName("dst_addr")
        static final int DESTINATION = 144;

        private ResolveAddress() {}
    }

    /** Resolves a route. */
    @CStruct("struct rdma_ucm_resolve_route")
    static final class ResolveRoute {
        static final int BYTES = 8;

        @CName("id")
        static final int ID = 0;

        @CName("timeout_ms")
        static final int TIMEOUT_MILLIS = 4;

        private ResolveRoute() {}
    }

    /** Queries an identifier. */
    @CStruct("struct rdma_ucm_query")
    static final class Query {
        static final int BYTES = 16;

        @CName("response")
        static final int RESPONSE = 0;

        @CName("id")
        static final int ID = 8;

        @CName("option")
        static final int OPTION = 12;

        private Query() {}
    }

    /** The addresses and the device of an identifier. */
    @CStruct("struct rdma_ucm_query_addr_resp")
    static final class QueriedAddresses {
        static final int BYTES = 280;

        @CName("node_guid")
        static final int NODE_GUID = 0;

        @CName("port_num")
        static final int PORT = 8;

        @CName("src_size")
        static final int LOCAL_BYTES = 12;

        @CName("dst_size")
        static final int PEER_BYTES = 14;

        @CName("src_addr")
        static final int LOCAL = 16;

        @CName("dst_addr")
        static final int PEER = 144;

        @CName("ibdev_index")
        static final int DEVICE_INDEX = 272;

        private QueriedAddresses() {}
    }

    /** The parameters of a connection. */
    @CStruct("struct rdma_ucm_conn_param")
    static final class Parameters {
        static final int BYTES = 272;

        @CName("qp_num")
        static final int QUEUE_PAIR = 0;

        @CName("qkey")
        static final int QUEUE_KEY = 4;

        @CName("private_data")
        static final int PRIVATE_DATA = 8;

        @CName("private_data_len")
        static final int PRIVATE_DATA_BYTES = 264;

        @CName("srq")
        static final int SHARED_RECEIVE_QUEUE = 265;

        @CName("responder_resources")
        static final int RESPONDER_RESOURCES = 266;

        @CName("initiator_depth")
        static final int INITIATOR_DEPTH = 267;

        @CName("flow_control")
        static final int FLOW_CONTROL = 268;

        @CName("retry_count")
        static final int RETRY_COUNT = 269;

        @CName("rnr_retry_count")
        static final int RNR_RETRY_COUNT = 270;

        @CName("valid")
        static final int IS_VALID = 271;

        private Parameters() {}
    }

    /** The parameters of a datagram service or a multicast group. */
    @CStruct("struct rdma_ucm_ud_param")
    static final class DatagramService {
        static final int BYTES = 304;

        @CName("qp_num")
        static final int QUEUE_PAIR = 0;

        @CName("qkey")
        static final int QUEUE_KEY = 4;

        @CName("ah_attr")
        static final int PATH = 8;

        @CName("private_data")
        static final int PRIVATE_DATA = 40;

        @CName("private_data_len")
        static final int PRIVATE_DATA_BYTES = 296;

        private DatagramService() {}
    }

    /** The options of enhanced connection establishment. */
    @CStruct("struct rdma_ucm_ece")
    static final class Enhancement {
        static final int BYTES = 8;

        @CName("vendor_id")
        static final int VENDOR = 0;

        @CName("attr_mod")
        static final int OPTIONS = 4;

        private Enhancement() {}
    }

    /** Connects an identifier. */
    @CStruct("struct rdma_ucm_connect")
    static final class Connect {
        static final int BYTES = 288;

        @CName("conn_param")
        static final int PARAMETERS = 0;

        @CName("id")
        static final int ID = 272;

        @CName("ece")
        static final int ENHANCEMENT = 280;

        private Connect() {}
    }

    /** Listens for requests. */
    @CStruct("struct rdma_ucm_listen")
    static final class Listen {
        static final int BYTES = 8;

        @CName("id")
        static final int ID = 0;

        @CName("backlog")
        static final int BACKLOG = 4;

        private Listen() {}
    }

    /** Accepts a request, or the reply of the peer. */
    @CStruct("struct rdma_ucm_accept")
    static final class Accept {
        static final int BYTES = 296;

        @CName("uid")
        static final int UID = 0;

        @CName("conn_param")
        static final int PARAMETERS = 8;

        @CName("id")
        static final int ID = 280;

        @CName("ece")
        static final int ENHANCEMENT = 288;

        private Accept() {}
    }

    /** Rejects a request. */
    @CStruct("struct rdma_ucm_reject")
    static final class Reject {
        static final int BYTES = 264;

        @CName("id")
        static final int ID = 0;

        @CName("private_data_len")
        static final int PRIVATE_DATA_BYTES = 4;

        @CName("reason")
        static final int REASON = 5;

        @CName("private_data")
        static final int PRIVATE_DATA = 8;

        private Reject() {}
    }

    /** Ends a connection. */
    @CStruct("struct rdma_ucm_disconnect")
    static final class Disconnect {
        static final int BYTES = 4;

        @CName("id")
        static final int ID = 0;

        private Disconnect() {}
    }

    /** Asks for the attributes of a queue pair. */
    @CStruct("struct rdma_ucm_init_qp_attr")
    static final class InitializeAttributes {
        static final int BYTES = 16;

        @CName("response")
        static final int RESPONSE = 0;

        @CName("id")
        static final int ID = 8;

        @CName("qp_state")
        static final int STATE = 12;

        private InitializeAttributes() {}
    }

    /** The attributes of a queue pair. */
    @CStruct("struct ib_uverbs_qp_attr")
    static final class Attributes {
        static final int BYTES = 144;

        @CName("qp_attr_mask")
        static final int MASK = 0;

        @CName("qp_state")
        static final int STATE = 4;

        @CName("path_mtu")
        static final int PATH_MTU = 12;

        @CName("qkey")
        static final int QUEUE_KEY = 20;

        @CName("rq_psn")
        static final int RECEIVE_PSN = 24;

        @CName("sq_psn")
        static final int SEND_PSN = 28;

        @CName("dest_qp_num")
        static final int DESTINATION_QUEUE_PAIR = 32;

        @CName("qp_access_flags")
        static final int ACCESS_FLAGS = 36;

        @CName("ah_attr")
        static final int PATH = 40;

        @CName("pkey_index")
        static final int PARTITION_KEY_INDEX = 124;

        @CName("max_rd_atomic")
        static final int MAX_READ_ATOMIC = 130;

        @CName("max_dest_rd_atomic")
        static final int MAX_DESTINATION_READ_ATOMIC = 131;

        @CName("min_rnr_timer")
        static final int MIN_RNR_TIMER = 132;

        @CName("port_num")
        static final int PORT = 133;

        @CName("timeout")
        static final int TIMEOUT = 134;

        @CName("retry_cnt")
        static final int RETRY_COUNT = 135;

        @CName("rnr_retry")
        static final int RNR_RETRY = 136;

        private Attributes() {}
    }

    /** The path to a peer. */
    @CStruct("struct ib_uverbs_ah_attr")
    static final class PathToPeer {
        static final int BYTES = 32;

        @CName("grh.dgid")
        static final int DESTINATION_GID = 0;

        @CName("grh.flow_label")
        static final int FLOW_LABEL = 16;

        @CName("grh.sgid_index")
        static final int SOURCE_GID_INDEX = 20;

        @CName("grh.hop_limit")
        static final int HOP_LIMIT = 21;

        @CName("grh.traffic_class")
        static final int TRAFFIC_CLASS = 22;

        @CName("port_num")
        static final int PORT = 30;

        private PathToPeer() {}
    }

    /** Tells about an asynchronous event of the queue pair. */
    @CStruct("struct rdma_ucm_notify")
    static final class Notify {
        static final int BYTES = 8;

        @CName("id")
        static final int ID = 0;

        @CName("event")
        static final int EVENT = 4;

        private Notify() {}
    }

    /** Joins a multicast group. */
    @CStruct("struct rdma_ucm_join_mcast")
    static final class JoinGroup {
        static final int BYTES = 152;

        @CName("response")
        static final int RESPONSE = 0;

        @CName("uid")
        static final int UID = 8;

        @CName("id")
        static final int ID = 16;

        @CName("addr_size")
        static final int ADDRESS_BYTES = 20;

        @CName("join_flags")
        static final int FLAGS = 22;

        @CName("addr")
        static final int ADDRESS = 24;

        private JoinGroup() {}
    }

    /** Takes an event. */
    @CStruct("struct rdma_ucm_get_event")
    static final class GetEvent {
        static final int BYTES = 8;

        @CName("response")
        static final int RESPONSE = 0;

        private GetEvent() {}
    }

    /** An event. */
    @CStruct("struct rdma_ucm_event_resp")
    static final class Event {
        static final int BYTES = 336;

        @CName("uid")
        static final int UID = 0;

        @CName("id")
        static final int ID = 8;

        @CName("event")
        static final int TYPE = 12;

        @CName("status")
        static final int STATUS = 16;

        @CName("param")
        static final int PARAMETERS = 20;

        @CName("ece")
        static final int ENHANCEMENT = 328;

        private Event() {}
    }

    /** Sets an option. */
    @CStruct("struct rdma_ucm_set_option")
    static final class SetOption {
        static final int BYTES = 24;

        @CName("optval")
        static final int VALUE = 0;

        @CName("id")
        static final int ID = 8;

        @CName("level")
        static final int LEVEL = 12;

        @CName("optname")
        static final int NAME = 16;

        @CName("optlen")
        static final int VALUE_BYTES = 20;

        private SetOption() {}
    }

    /** A path record with its flags. */
    @CStruct("struct ib_path_rec_data")
    static final class PathData {
        static final int BYTES = 72;

        @CName("flags")
        static final int FLAGS = 0;

        @CName("path_rec")
        static final int RECORD = 8;

        private PathData() {}
    }
}
