package io.rdma4j.verbs.abi;

/** An open device. The functions are pointers in it that a program calls directly. */
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
     * The offset of {@code abi_compat}, which is -1 for an extended context, with a mutex of 40 bytes, as on x86-64. The
     * structure ends 8 bytes later.
     */
    public static final int ABI_COMPAT = 320;

    /** The same with a mutex of 48 bytes, as on arm64. */
    public static final int ABI_COMPAT_AFTER_LONG_MUTEX = 328;

    /** The size of a mutex of pthreads where {@link #ABI_COMPAT} is the place of the field. */
    public static final int MUTEX_BYTES = 40;

    private Context() {}
}
