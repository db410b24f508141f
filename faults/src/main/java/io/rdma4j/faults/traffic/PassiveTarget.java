package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A passive side: memory that others write and read. It leaves when the peer does, or sends anything. Accepts connections
 * until it is told {@code end}.
 *
 * <p>Parameters {@code address}, {@code bytes}, {@code backlog}, {@code timeout} (exponent); says {@code port}, and to the
 * word {@code count} as {@code count} how many connections it has made in all and which live.
 */
public final class PassiveTarget implements Role {
    private static final Duration LOOK = Duration.ofMillis(20);

    private final AtomicInteger made = new AtomicInteger();
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
        for (String word = parent.nextCommand(); !word.equals("end"); word = parent.nextCommand()) {
            if (word.equals("count")) {
                parent.report("count", List.of(made.get(), openConnections.size()));
            }
        }
    }

    private void serve(TrafficSide.Request request, TrafficSide.Shape shape) {
        try (TrafficSide side = request.accept(shape, fresh -> fresh.postReceive(0, 0, 0))) {
            made.incrementAndGet();
            openConnections.add(side);
            WorkCompletion[] word = WorkCompletion.array(1);
            while (!side.hasEnded() && side.await(word, LOOK) == 0) {}
            openConnections.remove(side);
        } catch (RdmaException e) {
            System.err.println("not accepted: " + e.getMessage());
        }
    }
}
