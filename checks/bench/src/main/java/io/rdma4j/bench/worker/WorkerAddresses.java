package io.rdma4j.bench.worker;

/**
 * The loopback addresses of the two processes of a measurement.
 *
 * <p>No other process is likely to use them, so each process owns the RoCE port of its address.
 */
public final class WorkerAddresses {
    /** The address of the passive side. */
    public static final String SERVER = "127.71.0.1";

    /** The address of the active side. */
    public static final String CLIENT = "127.71.0.2";

    private WorkerAddresses() {}
}
