package io.rdma4j.verbs.abi;

/**
 * An extended completion queue. It has pointers to functions, and the status and number of the current completion. The
 * offsets are relative to the condition, which follows a mutex with an architecture-dependent size.
 */
@CStruct(value = "struct ibv_cq_ex", origin = "cond")
public final class ExtendedCompletionQueue {
    @CName("status")
    public static final int STATUS = 60;

    @CName("wr_id")
    public static final int ID = 64;

    @CName("start_poll")
    public static final int START = 72;

    @CName("next_poll")
    public static final int NEXT = 80;

    @CName("end_poll")
    public static final int END = 88;

    @CName("read_opcode")
    public static final int READ_OPCODE = 96;

    @CName("read_byte_len")
    public static final int READ_LENGTH = 112;

    @CName("read_imm_data")
    public static final int READ_IMMEDIATE = 120;

    @CName("read_qp_num")
    public static final int READ_QUEUE_PAIR = 128;

    @CName("read_src_qp")
    public static final int READ_SOURCE_QUEUE_PAIR = 136;

    @CName("read_wc_flags")
    public static final int READ_FLAGS = 144;

    @CName("read_completion_ts")
    public static final int READ_TIMESTAMP = 176;

    private ExtendedCompletionQueue() {}
}
