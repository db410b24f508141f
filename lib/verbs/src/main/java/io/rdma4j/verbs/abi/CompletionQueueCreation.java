package io.rdma4j.verbs.abi;

/** The attributes of a new extended completion queue. */
@CStruct("struct ibv_cq_init_attr_ex")
public final class CompletionQueueCreation {
    public static final int BYTES = 56;

    @CName("cqe")
    public static final int ENTRIES = 0;

    @CName("channel")
    public static final int CHANNEL = 16;

    @CName("comp_vector")
    public static final int COMPLETION_VECTOR = 24;

    @CName("wc_flags")
    public static final int FIELDS = 32;

    private CompletionQueueCreation() {}
}
