package io.rdma4j.verbs.abi;

/** The attributes of a device that only the extended query returns. */
@CStruct("struct ibv_device_attr_ex")
public final class ExtendedDeviceLimits {
    public static final int BYTES = 400;

    @CName("odp_caps.general_caps")
    public static final int ON_DEMAND = 240;

    @CName("odp_caps.per_transport_caps.rc_odp_caps")
    public static final int ON_DEMAND_RELIABLE_CONNECTIONS = 248;

    @CName("odp_caps.per_transport_caps.uc_odp_caps")
    public static final int ON_DEMAND_UNRELIABLE_CONNECTIONS = 252;

    @CName("odp_caps.per_transport_caps.ud_odp_caps")
    public static final int ON_DEMAND_DATAGRAMS = 256;

    @CName("completion_timestamp_mask")
    public static final int COMPLETION_TIMESTAMP_MASK = 264;

    @CName("hca_core_clock")
    public static final int CLOCK_KILOHERTZ = 272;

    @CName("device_cap_flags_ex")
    public static final int CAPABILITIES = 280;

    @CName("xrc_odp_caps")
    public static final int ON_DEMAND_EXTENDED_CONNECTIONS = 392;

    @CName("phys_port_cnt_ex")
    public static final int PORTS = 396;

    private ExtendedDeviceLimits() {}
}
