package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;

/**
 * Advice about memory that is registered {@linkplain AccessFlag#ON_DEMAND on demand}. C:
 * {@code enum ibv_advise_mr_advice}.
 */
public enum MemoryAdvice {
    /** The device will soon read the memory. */
    PREFETCH(0),
    /** The device will soon read and write the memory. */
    PREFETCH_WRITE(1),
    /** Like {@link #PREFETCH}, but only for pages that are already in memory. */
    PREFETCH_NO_FAULT(2);

    private final int code;

    MemoryAdvice(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_advise_mr_advice}. */
    public int code() {
        return code;
    }
}
