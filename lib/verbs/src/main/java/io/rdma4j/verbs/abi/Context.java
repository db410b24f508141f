package io.rdma4j.verbs.abi;

/** An open device. It has pointers to functions that programs call directly. */
@CStruct("struct ibv_context")
public final class Context {
    @CName("device")
    public static final int DEVICE = 0;

    @CName("ops.alloc_mw")
    public static final int ALLOCATE_WINDOW = 64;

    @CName("ops.bind_mw")
    public static final int BIND_WINDOW = 72;

    @CName("ops.dealloc_mw")
    public static final int FREE_WINDOW = 80;

    @CName("ops.poll_cq")
    public static final int POLL = 96;

    @CName("ops.req_notify_cq")
    public static final int REQUEST_NOTIFICATION = 104;

    @CName("ops.post_srq_recv")
    public static final int POST_SHARED_RECEIVE = 168;

    @CName("ops.post_send")
    public static final int POST_SEND = 208;

    @CName("ops.post_recv")
    public static final int POST_RECEIVE = 216;

    @CName("cmd_fd")
    public static final int COMMAND_DESCRIPTOR = 264;

    @CName("async_fd")
    public static final int ASYNC_DESCRIPTOR = 268;

    @CName("num_comp_vectors")
    public static final int COMPLETION_VECTORS = 272;

    /**
     * The offset of {@code abi_compat} if a mutex has 40 bytes, as on x86-64. The structure ends 8 bytes later. The
     * field is -1 for an extended context.
     */
    public static final int ABI_COMPAT = 320;

    /** The offset of {@code abi_compat} if a mutex has 48 bytes, as on arm64. */
    public static final int ABI_COMPAT_AFTER_LONG_MUTEX = 328;

    /** The size of a pthread mutex on the architectures where {@link #ABI_COMPAT} is the field's offset. */
    public static final int MUTEX_BYTES = 40;

    private Context() {}
}
