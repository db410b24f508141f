package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A passive side with memory that peers write and read. Accepts connections until it receives {@code end}. A connection
 * is closed when the peer disconnects or sends a message.
 *
 * <p>The parameters are {@code address}, {@code bytes}, {@code backlog} and {@code timeout} (exponent). It reports
 * {@code port}, and on {@code count} it reports the numbers of all and of open connections as {@code count}.
 */
public final class PassiveTarget implements Role {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

    private final AtomicInteger accepted = new AtomicInteger();
    private final List<TrafficSide> openConnections = new CopyOnWriteArrayList<>();

    @Override
    public void run(Parent parent) throws IOException {
        TrafficSide.Shape shape = TrafficSide.Shape.of(16, 16, parent.number("bytes", 1 << 20))
                .withAckTimeout((int) parent.number("timeout", 14));
        InetSocketAddress address = new InetSocketAddress(parent.text("address", "127.0.0.1"), 0);
        TrafficSide.Listener listener = new TrafficSide.Listener(address, (int) parent.number("backlog", 16));
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                TrafficSide.Request request = listener.request();
                Thread.ofPlatform().daemon().start(() -> serve(request, shape));
            }
        });
        parent.report("port", listener.port());
        for (String command = parent.nextCommand(); !command.equals("end"); command = parent.nextCommand()) {
            if (command.equals("count")) {
                parent.report("count", List.of(accepted.get(), openConnections.size()));
            }
        }
    }

    private void serve(TrafficSide.Request request, TrafficSide.Shape shape) {
        try (TrafficSide side = request.accept(shape, newSide -> newSide.postReceive(0, 0, 0))) {
            accepted.incrementAndGet();
            openConnections.add(side);
            WorkCompletion[] command = WorkCompletion.array(1);
            while (!side.hasEnded() && side.await(command, POLL_INTERVAL) == 0) {}
            openConnections.remove(side);
        } catch (RdmaException e) {
            System.err.println("not accepted: " + e.getMessage());
        }
    }
}
