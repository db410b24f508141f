package io.rdma4j.verbs.abi;

/** The attributes of a new shared receive queue. The structure of {@code ibv_create_srq} is its first 24 bytes. */
@CStruct("struct ibv_srq_init_attr_ex")
public final class SharedReceiveQueueCreation {
    public static final int BYTES = 64;

    @CName("attr")
    public static final int ATTRIBUTES = 8;

    @CName("comp_mask")
    public static final int MASK = 20;

    @CName("srq_type")
    public static final int TYPE = 24;

    @CName("pd")
    public static final int PROTECTION_DOMAIN = 32;

    @CName("xrcd")
    public static final int XRC_DOMAIN = 40;

    @CName("cq")
    public static final int COMPLETION_QUEUE = 48;

    private SharedReceiveQueueCreation() {}
}
