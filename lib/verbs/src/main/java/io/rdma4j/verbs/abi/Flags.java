package io.rdma4j.verbs.abi;

/** Bits and numbers of libibverbs that are not in the enumerations of {@code io.rdma4j.verbs}. */
public final class Flags {
    @CName("IBV_SEND_FENCE")
    public static final int SEND_FENCED = 1;

    @CName("IBV_SEND_SIGNALED")
    public static final int SEND_SIGNALED = 2;

    @CName("IBV_SEND_SOLICITED")
    public static final int SEND_SOLICITED = 4;

    @CName("IBV_SEND_INLINE")
    public static final int SEND_INLINE = 8;

    @CName("IBV_WC_GRH")
    public static final int COMPLETION_GLOBAL_ROUTE = 1;

    @CName("IBV_WC_WITH_IMM")
    public static final int COMPLETION_IMMEDIATE = 2;

    @CName("IBV_WC_WITH_INV")
    public static final int COMPLETION_INVALIDATED = 8;

    @CName("IBV_QP_INIT_ATTR_PD")
    public static final int QUEUE_PAIR_HAS_PROTECTION_DOMAIN = 1;

    @CName("IBV_QP_INIT_ATTR_XRCD")
    public static final int QUEUE_PAIR_HAS_XRC_DOMAIN = 2;

    @CName("IBV_QP_INIT_ATTR_CREATE_FLAGS")
    public static final int QUEUE_PAIR_HAS_CREATE_FLAGS = 4;

    @CName("IBV_QP_CREATE_BLOCK_SELF_MCAST_LB")
    public static final int BLOCK_MULTICAST_LOOPBACK = 2;

    @CName("IBV_SRQT_BASIC")
    public static final int SHARED_RECEIVE_QUEUE_BASIC = 0;

    @CName("IBV_SRQT_XRC")
    public static final int SHARED_RECEIVE_QUEUE_XRC = 1;

    @CName("IBV_SRQ_INIT_ATTR_TYPE")
    public static final int SHARED_RECEIVE_QUEUE_HAS_TYPE = 1;

    @CName("IBV_SRQ_INIT_ATTR_PD")
    public static final int SHARED_RECEIVE_QUEUE_HAS_PROTECTION_DOMAIN = 2;

    @CName("IBV_SRQ_INIT_ATTR_XRCD")
    public static final int SHARED_RECEIVE_QUEUE_HAS_XRC_DOMAIN = 4;

    @CName("IBV_SRQ_INIT_ATTR_CQ")
    public static final int SHARED_RECEIVE_QUEUE_HAS_COMPLETION_QUEUE = 8;

    @CName("IBV_SRQ_MAX_WR")
    public static final int SHARED_RECEIVE_QUEUE_RESIZE = 1;

    @CName("IBV_SRQ_LIMIT")
    public static final int SHARED_RECEIVE_QUEUE_LIMIT = 2;

    @CName("IBV_XRCD_INIT_ATTR_FD")
    public static final int XRC_DOMAIN_HAS_DESCRIPTOR = 1;

    @CName("IBV_XRCD_INIT_ATTR_OFLAGS")
    public static final int XRC_DOMAIN_HAS_OPEN_FLAGS = 2;

    @CName("IBV_LINK_LAYER_ETHERNET")
    public static final int LINK_LAYER_ETHERNET = 2;

    @CName("IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP")
    public static final int COMPLETION_FIELDS = 0xf;

    @CName("IBV_WC_EX_WITH_COMPLETION_TIMESTAMP")
    public static final int COMPLETION_TIMESTAMP = 0x80;

    @CName("IBV_VALUES_MASK_RAW_CLOCK")
    public static final int RAW_CLOCK = 1;

    @CName("IBV_ODP_SUPPORT")
    public static final int ON_DEMAND_PAGING = 1;

    @CName("IBV_ADVISE_MR_FLAG_FLUSH")
    public static final int ADVICE_WAITS = 1;

    @CName("IBV_REREG_MR_CHANGE_TRANSLATION")
    public static final int CHANGE_MEMORY = 1;

    @CName("IBV_REREG_MR_CHANGE_PD")
    public static final int CHANGE_PROTECTION_DOMAIN = 2;

    @CName("IBV_REREG_MR_CHANGE_ACCESS")
    public static final int CHANGE_ACCESS = 4;

    @CName("IBV_REREG_MR_ERR_INPUT")
    public static final int REREGISTER_INPUT_ERROR = -1;

    @CName("IBV_REREG_MR_ERR_DONT_FORK_NEW")
    public static final int REREGISTER_FORK_ERROR_OF_NEW_MEMORY = -2;

    @CName("IBV_REREG_MR_ERR_DO_FORK_OLD")
    public static final int REREGISTER_FORK_ERROR_OF_OLD_MEMORY = -3;

    private Flags() {}
}
