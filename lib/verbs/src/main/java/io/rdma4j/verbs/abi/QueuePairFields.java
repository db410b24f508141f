package io.rdma4j.verbs.abi;

/** A queue pair. */
@CStruct("struct ibv_qp")
public final class QueuePairFields {
    @CName("context")
    public static final int CONTEXT = 0;

    @CName("qp_num")
    public static final int NUMBER = 52;

    @CName("qp_type")
    public static final int TYPE = 60;

    private QueuePairFields() {}
}
