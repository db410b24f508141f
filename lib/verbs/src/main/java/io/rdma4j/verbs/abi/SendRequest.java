package io.rdma4j.verbs.abi;

/** A send work request. */
@CStruct("struct ibv_send_wr")
public final class SendRequest {
    public static final int BYTES = 128;

    @CName("wr_id")
    public static final int ID = 0;

    @CName("next")
    public static final int NEXT = 8;

    @CName("sg_list")
    public static final int LIST = 16;

    @CName("num_sge")
    public static final int LIST_LENGTH = 24;

    @CName("opcode")
    public static final int OPCODE = 28;

    @CName("send_flags")
    public static final int FLAGS = 32;

    @CName("imm_data")
    public static final int IMMEDIATE = 36;

    @CName("invalidate_rkey")
    public static final int INVALIDATE_KEY = 36;

    @CName("wr.rdma.remote_addr")
    public static final int RDMA_ADDRESS = 40;

    @CName("wr.rdma.rkey")
    public static final int RDMA_KEY = 48;

    @CName("wr.atomic.remote_addr")
    public static final int ATOMIC_ADDRESS = 40;

    @CName("wr.atomic.compare_add")
    public static final int ATOMIC_COMPARE_OR_ADD = 48;

    @CName("wr.atomic.swap")
    public static final int ATOMIC_SWAP = 56;

    @CName("wr.atomic.rkey")
    public static final int ATOMIC_KEY = 64;

    @CName("wr.ud.ah")
    public static final int DATAGRAM_ADDRESS_HANDLE = 40;

    @CName("wr.ud.remote_qpn")
    public static final int DATAGRAM_QUEUE_PAIR = 48;

    @CName("wr.ud.remote_qkey")
    public static final int DATAGRAM_QUEUE_KEY = 52;

    @CName("qp_type.xrc.remote_srqn")
    public static final int XRC_SHARED_RECEIVE_QUEUE = 72;

    @CName("bind_mw.mw")
    public static final int BIND_WINDOW = 80;

    @CName("bind_mw.rkey")
    public static final int BIND_KEY = 88;

    @CName("bind_mw.bind_info.mr")
    public static final int BIND_REGION = 96;

    @CName("bind_mw.bind_info.addr")
    public static final int BIND_ADDRESS = 104;

    @CName("bind_mw.bind_info.length")
    public static final int BIND_LENGTH = 112;

    @CName("bind_mw.bind_info.mw_access_flags")
    public static final int BIND_ACCESS = 120;

    private SendRequest() {}
}
