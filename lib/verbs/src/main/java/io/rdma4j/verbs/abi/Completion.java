package io.rdma4j.verbs.abi;

/** A work completion. */
@CStruct("struct ibv_wc")
public final class Completion {
    public static final int BYTES = 48;

    @CName("wr_id")
    public static final int ID = 0;

    @CName("status")
    public static final int STATUS = 8;

    @CName("opcode")
    public static final int OPCODE = 12;

    @CName("vendor_err")
    public static final int VENDOR_ERROR = 16;

    @CName("byte_len")
    public static final int LENGTH = 20;

    @CName("imm_data")
    public static final int IMMEDIATE = 24;

    @CName("invalidated_rkey")
    public static final int INVALIDATED_KEY = 24;

    @CName("qp_num")
    public static final int QUEUE_PAIR = 28;

    @CName("src_qp")
    public static final int SOURCE_QUEUE_PAIR = 32;

    @CName("wc_flags")
    public static final int FLAGS = 36;

    @CName("sl")
    public static final int SERVICE_LEVEL = 44;

    private Completion() {}
}
