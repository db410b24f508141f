package io.rdma4j.verbs.abi;

/** The binding of a memory window of type 1. */
@CStruct("struct ibv_mw_bind")
public final class WindowBinding {
    public static final int BYTES = 48;

    @CName("wr_id")
    public static final int ID = 0;

    @CName("send_flags")
    public static final int FLAGS = 8;

    @CName("bind_info.mr")
    public static final int REGION = 16;

    @CName("bind_info.addr")
    public static final int ADDRESS = 24;

    @CName("bind_info.length")
    public static final int LENGTH = 32;

    @CName("bind_info.mw_access_flags")
    public static final int ACCESS = 40;

    private WindowBinding() {}
}
