package io.rdma4j.verbs.abi;

/** The time of a device's clock. Drivers store the number of ticks in the field for nanoseconds. */
@CStruct("struct ibv_values_ex")
public final class ClockValues {
    public static final int BYTES = 24;

    @CName("comp_mask")
    public static final int MASK = 0;

    @CName("raw_clock.tv_nsec")
    public static final int TICKS = 16;

    private ClockValues() {}
}
