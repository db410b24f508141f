package io.rdma4j.value;

/** The memory of the peer that a FLUSH concerns. C: {@code enum ibv_selectivity_level}. */
public enum SelectivityLevel {
    /** A range of addresses. */
    RANGE(0),
    /** The whole memory region of the key. C: {@code IBV_FLUSH_MR}. */
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
