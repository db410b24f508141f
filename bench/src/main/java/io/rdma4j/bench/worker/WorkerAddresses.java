package io.rdma4j.bench.worker;

/**
 * Where the processes of a measurement live: two loopback addresses that nobody else is likely to use, so that each
 * process has the RoCE port of its own address.
 */
public final class WorkerAddresses {
    /** The passive side. */
    public static final String SERVER = "127.71.0.1";

    /** The active side. */
    public static final String CLIENT = "127.71.0.2";

    private WorkerAddresses() {}
}
