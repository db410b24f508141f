package io.rdma4j.verbs;

/** The scope in which a device's compare-and-swap and fetch-and-add are atomic. C: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
    /** The device has no atomics. */
    NONE(0, "ATOMIC_NONE"),
    /** They are atomic with respect to other atomics of the same device. */
    DEVICE(1, "ATOMIC_HCA"),
    /** They are atomic with respect to all accesses of the host, including the accesses of its processors. */
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
