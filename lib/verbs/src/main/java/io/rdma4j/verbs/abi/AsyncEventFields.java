package io.rdma4j.verbs.abi;

/** An asynchronous event. */
@CStruct("struct ibv_async_event")
public final class AsyncEventFields {
    public static final int BYTES = 16;

    @CName("element")
    public static final int ELEMENT = 0;

    @CName("event_type")
    public static final int TYPE = 8;

    private AsyncEventFields() {}
}
