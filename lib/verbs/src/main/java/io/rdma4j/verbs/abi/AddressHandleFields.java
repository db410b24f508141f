package io.rdma4j.verbs.abi;

/** An address handle. */
@CStruct("struct ibv_ah")
public final class AddressHandleFields {
    @CName("handle")
    public static final int HANDLE = 16;

    private AddressHandleFields() {}
}
