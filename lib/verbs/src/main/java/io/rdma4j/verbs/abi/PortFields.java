package io.rdma4j.verbs.abi;

/** The attributes of a port. */
@CStruct("struct ibv_port_attr")
public final class PortFields {
    @CName("state")
    public static final int STATE = 0;

    @CName("max_mtu")
    public static final int MAX_MTU = 4;

    @CName("active_mtu")
    public static final int ACTIVE_MTU = 8;

    @CName("gid_tbl_len")
    public static final int GID_TABLE_LENGTH = 12;

    @CName("port_cap_flags")
    public static final int CAPABILITIES = 16;

    @CName("max_msg_sz")
    public static final int MAX_MESSAGE_BYTES = 20;

    @CName("bad_pkey_cntr")
    public static final int PARTITION_KEY_VIOLATIONS = 24;

    @CName("qkey_viol_cntr")
    public static final int QUEUE_KEY_VIOLATIONS = 28;

    @CName("pkey_tbl_len")
    public static final int PARTITION_KEY_TABLE_LENGTH = 32;

    @CName("lid")
    public static final int LID = 34;

    @CName("sm_lid")
    public static final int SUBNET_MANAGER_IDENTIFIER = 36;

    @CName("lmc")
    public static final int LOCAL_IDENTIFIER_MASK = 38;

    @CName("max_vl_num")
    public static final int MAX_VIRTUAL_LANES = 39;

    @CName("sm_sl")
    public static final int SUBNET_MANAGER_SERVICE_LEVEL = 40;

    @CName("subnet_timeout")
    public static final int SUBNET_TIMEOUT = 41;

    @CName("init_type_reply")
    public static final int INITIALIZATION_REPLY = 42;

    @CName("active_width")
    public static final int ACTIVE_WIDTH = 43;

    @CName("active_speed")
    public static final int ACTIVE_SPEED = 44;

    @CName("phys_state")
    public static final int PHYSICAL_STATE = 45;

    @CName("link_layer")
    public static final int LINK_LAYER = 46;

    @CName("port_cap_flags2")
    public static final int CAPABILITIES_2 = 48;

    /** {@code active_speed_ex} of libibverbs 50 and newer; 0 with older ones. */
    public static final int ACTIVE_SPEED_EXTENDED = 52;

    /** The size in the newest header files. The exported function of old libraries writes fewer bytes. */
    public static final int MAX_BYTES = 56;

    private PortFields() {}
}
