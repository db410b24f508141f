package io.rdma4j.verbs.abi;

/** The fields before the context in an extended context. The offsets are relative to the context, and negative. */
@CStruct(value = "struct verbs_context", origin = "context")
public final class ExtendedContext {
    @CName("sz")
    public static final int SIZE = -8;

    @CName("close_xrcd")
    public static final int CLOSE_XRC_DOMAIN = -24;

    @CName("open_xrcd")
    public static final int OPEN_XRC_DOMAIN = -32;

    @CName("create_srq_ex")
    public static final int CREATE_SHARED_RECEIVE_QUEUE = -40;

    @CName("get_srq_num")
    public static final int SHARED_RECEIVE_QUEUE_NUMBER = -48;

    @CName("create_qp_ex")
    public static final int CREATE_QUEUE_PAIR = -56;

    @CName("query_device_ex")
    public static final int QUERY_DEVICE = -104;

    @CName("create_cq_ex")
    public static final int CREATE_COMPLETION_QUEUE = -120;

    @CName("query_rt_values")
    public static final int QUERY_CLOCK = -128;

    @CName("advise_mr")
    public static final int ADVISE = -312;

    @CName("query_port")
    public static final int QUERY_PORT = -320;

    private ExtendedContext() {}
}
