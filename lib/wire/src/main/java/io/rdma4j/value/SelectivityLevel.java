package io.rdma4j.value;

/** The memory of the peer that a FLUSH concerns. C: {@code enum ibv_selectivity_level}. */
public enum SelectivityLevel {
    /** A range of addresses. C: {@code IBV_FLUSH_RANGE}. */
    RANGE(0),
    /** The whole memory region or window of the key; address and length have no meaning. C: {@code IBV_FLUSH_MR}. */
    REGION(1);

    private final int code;

    SelectivityLevel(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_selectivity_level}. */
    public int code() {
        return code;
    }
}
