package io.rdma4j.verbs.abi;

/** The attributes of a shared receive queue. */
@CStruct("struct ibv_srq_attr")
public final class SharedReceiveQueueSettings {
    public static final int BYTES = 12;

    @CName("max_wr")
    public static final int WORK_REQUESTS = 0;

    @CName("max_sge")
    public static final int SCATTER_GATHER = 4;

    @CName("srq_limit")
    public static final int LIMIT = 8;

    private SharedReceiveQueueSettings() {}
}
