package io.rdma4j.verbs.abi;

/** An entry of the GID table. */
@CStruct("struct ibv_gid_entry")
public final class GidTableEntry {
    public static final int BYTES = 32;

    @CName("gid")
    public static final int GID = 0;

    @CName("gid_index")
    public static final int INDEX = 16;

    @CName("port_num")
    public static final int PORT = 20;

    @CName("gid_type")
    public static final int TYPE = 24;

    @CName("ndev_ifindex")
    public static final int INTERFACE_INDEX = 28;

    private GidTableEntry() {}
}
