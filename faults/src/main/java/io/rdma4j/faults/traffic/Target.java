package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A passive side: memory that others write and read. Accepts connections until it is told {@code end}.
 *
 * <p>Parameters {@code address}, {@code bytes}, {@code backlog}; says {@code port}.
 */
public final class Target implements Role {
    @Override
    public void play(Parent parent) throws IOException {
        Side.Shape shape = Side.Shape.of(16, 16, parent.number("bytes", 1 << 20));
        InetSocketAddress address = new InetSocketAddress(parent.text("address", "127.0.0.1"), 0);
        Side.Listener listener = new Side.Listener(address, (int) parent.number("backlog", 16));
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                listener.accept(shape);
            }
        });
        parent.say("port", listener.port());
        while (!parent.hear().equals("end")) {
            // It only stops when told so; or when the test is gone, by an exception.
        }
    }
}
