package io.rdma4j.verbs;

/** The names of the attributes of a queue pair. C: {@code enum ibv_qp_attr_mask}. */
public enum QueuePairAttribute {
    /** {@code IBV_QP_STATE}. */
    STATE,
    /** {@code IBV_QP_CUR_STATE}. */
    CURRENT_STATE,
    /** {@code IBV_QP_EN_SQD_ASYNC_NOTIFY}. */
    NOTIFY_WHEN_DRAINED,
    /** {@code IBV_QP_ACCESS_FLAGS}. */
    ACCESS_FLAGS,
    /** {@code IBV_QP_PKEY_INDEX}. */
    PARTITION_KEY_INDEX,
    /** {@code IBV_QP_PORT}. */
    PORT,
    /** {@code IBV_QP_AV}. */
    ADDRESS_VECTOR,
    /** {@code IBV_QP_PATH_MTU}. */
    PATH_MTU,
    /** {@code IBV_QP_TIMEOUT}. */
    TIMEOUT,
    /** {@code IBV_QP_RETRY_CNT}. */
    RETRY_COUNT,
    /** {@code IBV_QP_RNR_RETRY}. */
    RNR_RETRY,
    /** {@code IBV_QP_RQ_PSN}. */
    RECEIVE_PSN,
    /** {@code IBV_QP_MAX_QP_RD_ATOMIC}. */
    MAX_READ_ATOMIC,
    /** {@code IBV_QP_MIN_RNR_TIMER}. */
    MIN_RNR_TIMER,
    /** {@code IBV_QP_SQ_PSN}. */
    SEND_PSN,
    /** {@code IBV_QP_MAX_DEST_RD_ATOMIC}. */
    MAX_DESTINATION_READ_ATOMIC,
    /** {@code IBV_QP_DEST_QPN}. */
    DESTINATION_QUEUE_PAIR,
    /** {@code IBV_QP_QKEY}. */
    QUEUE_KEY
}
