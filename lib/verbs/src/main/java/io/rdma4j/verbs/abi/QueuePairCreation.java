package io.rdma4j.verbs.abi;

/** The attributes of a new queue pair. The structure of {@code ibv_create_qp} is its first 64 bytes. */
@CStruct("struct ibv_qp_init_attr_ex")
public final class QueuePairCreation {
    public static final int BYTES = 136;

    @CName("send_cq")
    public static final int COMPLETIONS_OF_SENDS = 8;

    @CName("recv_cq")
    public static final int COMPLETIONS_OF_RECEIVES = 16;

    @CName("srq")
    public static final int SHARED_RECEIVE_QUEUE = 24;

    @CName("cap")
    public static final int CAPABILITIES = 32;

    @CName("qp_type")
    public static final int TYPE = 52;

    @CName("sq_sig_all")
    public static final int SIGNAL_ALL = 56;

    @CName("comp_mask")
    public static final int MASK = 60;

    @CName("pd")
    public static final int PROTECTION_DOMAIN = 64;

    @CName("xrcd")
    public static final int XRC_DOMAIN = 72;

    @CName("create_flags")
    public static final int CREATE_FLAGS = 80;

    private QueuePairCreation() {}
}
