package io.rdma4j.verbs.abi;

/** The sizes of a queue pair. */
@CStruct("struct ibv_qp_cap")
public final class Capabilities {
    public static final int BYTES = 20;

    @CName("max_send_wr")
    public static final int SEND_WORK_REQUESTS = 0;

    @CName("max_recv_wr")
    public static final int RECEIVE_WORK_REQUESTS = 4;

    @CName("max_send_sge")
    public static final int SEND_SCATTER_GATHER = 8;

    @CName("max_recv_sge")
    public static final int RECEIVE_SCATTER_GATHER = 12;

    @CName("max_inline_data")
    public static final int INLINE_BYTES = 16;

    private Capabilities() {}
}
