package io.rdma4j.testkit.junit;

/** The passage of time in the network of a test. */
public enum FabricTime {
    /** The stacks have threads and use the system's clock. */
    REAL,

    /**
     * Time passes only while the test waits, and timeouts take no time. The same seed gives the same packets at the
     * same times. Only one thread of the test may use the network.
     *
     * @see io.rdma4j.testkit.VirtualTime
     */
    VIRTUAL
}
