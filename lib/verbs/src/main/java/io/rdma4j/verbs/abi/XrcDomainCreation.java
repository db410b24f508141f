package io.rdma4j.verbs.abi;

/** The attributes of a new XRC domain. */
@CStruct("struct ibv_xrcd_init_attr")
public final class XrcDomainCreation {
    public static final int BYTES = 12;

    @CName("comp_mask")
    public static final int MASK = 0;

    @CName("fd")
    public static final int DESCRIPTOR = 4;

    @CName("oflags")
    public static final int OPEN_FLAGS = 8;

    private XrcDomainCreation() {}
}
