package io.rdma4j.verbs;

/** The accesses with which compare-and-swap and fetch-and-add of a device are atomic. C: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
    /** There are no atomics. */
    NONE(0, "ATOMIC_NONE"),
    /** Other atomics of the same device. */
    DEVICE(1, "ATOMIC_HCA"),
    /** All accesses of the host, also those of its processors. */
    GLOBAL(2, "ATOMIC_GLOB");

    private final int code;
    private final String text;

    AtomicCapability(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_atomic_cap}. */
    public int code() {
        return code;
    }

    /** Returns the name in C, without {@code IBV_}. */
    public String text() {
        return text;
    }
}
