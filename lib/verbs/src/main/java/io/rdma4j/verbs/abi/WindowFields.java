package io.rdma4j.verbs.abi;

/** A memory window. */
@CStruct("struct ibv_mw")
public final class WindowFields {
    @CName("rkey")
    public static final int KEY = 16;

    @CName("handle")
    public static final int HANDLE = 20;

    @CName("type")
    public static final int TYPE = 24;

    private WindowFields() {}
}
