package io.rdma4j.soft;

import io.rdma4j.fixture.TestEndpoint;
import java.io.IOException;
import java.net.InetAddress;

/** A process with an idle connection: one thread waits for an event. Exits at the end of its input. */
public final class IdleProcess {
    private IdleProcess() {}

    /** Runs the process; the argument is the local address. */
    public static void main(String[] arguments) throws IOException {
        InetAddress address = InetAddress.getByName(arguments[0]);
        TestEndpoint a = new TestEndpoint(address);
        TestEndpoint b = new TestEndpoint(address);
        TestEndpoint.connect(a, b);
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        if (!a.completion().isSuccess()) {
            throw new IllegalStateException("the write failed");
        }
        if (arguments[1].equals("waits")) {
            a.completions.requestNotification(false);
            Thread.ofPlatform().daemon().start(() -> a.channel.await());
        }
        System.out.println("idle");
        while (System.in.read() >= 0) {}
    }
}
