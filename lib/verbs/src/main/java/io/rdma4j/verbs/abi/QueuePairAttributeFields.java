package io.rdma4j.verbs.abi;

/** The attributes of a queue pair, as a change of the queue pair specifies them. */
@CStruct("struct ibv_qp_attr")
public final class QueuePairAttributeFields {
    public static final int BYTES = 144;

    @CName("qp_state")
    public static final int STATE = 0;

    @CName("cur_qp_state")
    public static final int CURRENT_STATE = 4;

    @CName("path_mtu")
    public static final int PATH_MTU = 8;

    @CName("qkey")
    public static final int QUEUE_KEY = 16;

    @CName("rq_psn")
    public static final int RECEIVE_PSN = 20;

    @CName("sq_psn")
    public static final int SEND_PSN = 24;

    @CName("dest_qp_num")
    public static final int DESTINATION_QUEUE_PAIR = 28;

    @CName("qp_access_flags")
    public static final int ACCESS = 32;

    @CName("cap")
    public static final int CAPABILITIES = 36;

    @CName("ah_attr")
    public static final int ADDRESS_VECTOR = 56;

    @CName("pkey_index")
    public static final int PARTITION_KEY_INDEX = 120;

    @CName("en_sqd_async_notify")
    public static final int NOTIFY_WHEN_DRAINED = 124;

    @CName("sq_draining")
    public static final int IS_DRAINING = 125;

    @CName("max_rd_atomic")
    public static final int MAX_READ_ATOMIC = 126;

    @CName("max_dest_rd_atomic")
    public static final int MAX_DESTINATION_READ_ATOMIC = 127;

    @CName("min_rnr_timer")
    public static final int MIN_RNR_TIMER = 128;

    @CName("port_num")
    public static final int PORT = 129;

    @CName("timeout")
    public static final int TIMEOUT = 130;

    @CName("retry_cnt")
    public static final int RETRY_COUNT = 131;

    @CName("rnr_retry")
    public static final int RNR_RETRY = 132;

    private QueuePairAttributeFields() {}
}
