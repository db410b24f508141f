package io.rdma4j.verbs.abi;

/** A protection domain. */
@CStruct("struct ibv_pd")
public final class ProtectionDomainFields {
    @CName("context")
    public static final int CONTEXT = 0;

    private ProtectionDomainFields() {}
}
