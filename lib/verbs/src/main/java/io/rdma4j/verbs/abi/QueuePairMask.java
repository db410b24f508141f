package io.rdma4j.verbs.abi;

/** The bits of the attributes in the mask of a queue pair's change. */
public final class QueuePairMask {
    @CName("IBV_QP_STATE")
    public static final int STATE = 1;

    @CName("IBV_QP_CUR_STATE")
    public static final int CURRENT_STATE = 1 << 1;

    @CName("IBV_QP_EN_SQD_ASYNC_NOTIFY")
    public static final int NOTIFY_WHEN_DRAINED = 1 << 2;

    @CName("IBV_QP_ACCESS_FLAGS")
    public static final int ACCESS_FLAGS = 1 << 3;

    @CName("IBV_QP_PKEY_INDEX")
    public static final int PARTITION_KEY_INDEX = 1 << 4;

    @CName("IBV_QP_PORT")
    public static final int PORT = 1 << 5;

    @CName("IBV_QP_QKEY")
    public static final int QUEUE_KEY = 1 << 6;

    @CName("IBV_QP_AV")
    public static final int ADDRESS_VECTOR = 1 << 7;

    @CName("IBV_QP_PATH_MTU")
    public static final int PATH_MTU = 1 << 8;

    @CName("IBV_QP_TIMEOUT")
    public static final int TIMEOUT = 1 << 9;

    @CName("IBV_QP_RETRY_CNT")
    public static final int RETRY_COUNT = 1 << 10;

    @CName("IBV_QP_RNR_RETRY")
    public static final int RNR_RETRY = 1 << 11;

    @CName("IBV_QP_RQ_PSN")
    public static final int RECEIVE_PSN = 1 << 12;

    @CName("IBV_QP_MAX_QP_RD_ATOMIC")
    public static final int MAX_READ_ATOMIC = 1 << 13;

    @CName("IBV_QP_MIN_RNR_TIMER")
    public static final int MIN_RNR_TIMER = 1 << 15;

    @CName("IBV_QP_SQ_PSN")
    public static final int SEND_PSN = 1 << 16;

    @CName("IBV_QP_MAX_DEST_RD_ATOMIC")
    public static final int MAX_DESTINATION_READ_ATOMIC = 1 << 17;

    @CName("IBV_QP_CAP")
    public static final int CAPABILITIES = 1 << 19;

    @CName("IBV_QP_DEST_QPN")
    public static final int DESTINATION_QUEUE_PAIR = 1 << 20;

    private QueuePairMask() {}
}
