package io.rdma4j.soft.events;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.soft.TestAddresses;
import java.net.InetAddress;

/** A process of a Java runtime without Flight Recorder, which writes from one queue pair to another. */
public final class NoRecorderProcess {
    private NoRecorderProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) {
        System.out.println(
                "flight recorder " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
        InetAddress address = TestAddresses.loopback();
        try (TestEndpoint a = new TestEndpoint(address);
                TestEndpoint b = new TestEndpoint(address)) {
            TestEndpoint.connect(a, b);
            a.queuePair.postWrite(1, a.region, 0, 10_000, b.region.remote());
            System.out.println("written " + (a.completion().isSuccess() ? 10_000 : 0));
        }
    }
}
