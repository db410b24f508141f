package io.rdma4j.conformance.device;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.QueuePair;

/** Connects queue pairs without the connection manager, on devices that can do that. */
public final class DirectConnections {
    private DirectConnections() {}

    /** Connects the queue pairs of two endpoints, or ends the calling test as aborted. */
    public static void connect(TestEndpoint a, TestEndpoint b) {
        TestDevices.require(Capability.DIRECT_CONNECTIONS);
        TestEndpoint.connect(a, b);
    }

    /** Connects other queue pairs of two endpoints, or ends the calling test as aborted. */
    public static void connect(TestEndpoint a, QueuePair ofA, TestEndpoint b, QueuePair ofB) {
        TestDevices.require(Capability.DIRECT_CONNECTIONS);
        TestEndpoint.connect(a, ofA, b, ofB);
    }
}
