package io.rdma4j.verbs.abi;

/** A completion channel. */
@CStruct("struct ibv_comp_channel")
public final class ChannelFields {
    @CName("fd")
    public static final int DESCRIPTOR = 8;

    private ChannelFields() {}
}
