package io.rdma4j.verbs.abi;

/** An element of a scatter-gather list. */
@CStruct("struct ibv_sge")
public final class ScatterGather {
    public static final int BYTES = 16;

    @CName("addr")
    public static final int ADDRESS = 0;

    @CName("length")
    public static final int LENGTH = 8;

    @CName("lkey")
    public static final int LOCAL_KEY = 12;

    private ScatterGather() {}
}
