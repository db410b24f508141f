package io.rdma4j.verbs.abi;

/** An address vector. */
@CStruct("struct ibv_ah_attr")
public final class AddressVectorFields {
    public static final int BYTES = 32;

    @CName("grh.dgid")
    public static final int DESTINATION_GID = 0;

    @CName("grh.flow_label")
    public static final int FLOW_LABEL = 16;

    @CName("grh.sgid_index")
    public static final int SOURCE_GID_INDEX = 20;

    @CName("grh.hop_limit")
    public static final int HOP_LIMIT = 21;

    @CName("grh.traffic_class")
    public static final int TRAFFIC_CLASS = 22;

    @CName("dlid")
    public static final int DESTINATION_LID = 24;

    @CName("sl")
    public static final int SERVICE_LEVEL = 26;

    @CName("static_rate")
    public static final int STATIC_RATE = 28;

    @CName("is_global")
    public static final int IS_GLOBAL = 29;

    @CName("port_num")
    public static final int PORT = 30;

    private AddressVectorFields() {}
}
