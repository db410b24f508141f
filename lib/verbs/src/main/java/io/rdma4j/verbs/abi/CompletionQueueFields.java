package io.rdma4j.verbs.abi;

/** A completion queue. */
@CStruct("struct ibv_cq")
public final class CompletionQueueFields {
    @CName("context")
    public static final int CONTEXT = 0;

    @CName("cqe")
    public static final int CAPACITY = 28;

    @CName("mutex")
    public static final int MUTEX = 32;

    private CompletionQueueFields() {}
}
