package io.rdma4j.verbs.abi;

/** A memory region. */
@CStruct("struct ibv_mr")
public final class RegionFields {
    @CName("addr")
    public static final int ADDRESS = 16;

    @CName("length")
    public static final int LENGTH = 24;

    @CName("handle")
    public static final int HANDLE = 32;

    @CName("lkey")
    public static final int LOCAL_KEY = 36;

    @CName("rkey")
    public static final int REMOTE_KEY = 40;

    private RegionFields() {}
}
