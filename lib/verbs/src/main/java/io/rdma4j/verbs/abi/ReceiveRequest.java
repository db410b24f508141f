package io.rdma4j.verbs.abi;

/** A receive work request. */
@CStruct("struct ibv_recv_wr")
public final class ReceiveRequest {
    public static final int BYTES = 32;

    @CName("wr_id")
    public static final int ID = 0;

    @CName("next")
    public static final int NEXT = 8;

    @CName("sg_list")
    public static final int LIST = 16;

    @CName("num_sge")
    public static final int LIST_LENGTH = 24;

    private ReceiveRequest() {}
}
