package io.rdma4j.harness.interop;

/** A place where a tool runs, and which implementation of the tool it is. */
enum Side {
    /** The C tool in the guest, over the kernel's device. */
    LINUX,
    /** Java's tool in the guest, over the kernel's device; with {@code --peer c} of checks/interop/hardware the C tool. */
    INSIDE,
    /** Java's tool on the host that has the tap; with {@code --peer c} the C tool in a second guest. */
    HOST,
    /** The C tool on the host that has the tap, by {@code rdma4j exec}. */
    EXEC,
    /** Java's tool on the same host, by addresses that need no guest. */
    NEAR,
    /** Java's tool on another host without a guest. */
    FAR
}
