package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An active side that runs one {@link Exchange} until an error or until the test stops it.
 *
 * <p>The parameters are {@code from}, {@code to}, {@code port}, {@code timeout} (exponent; 0 for the connection
 * manager's default), {@code keepAliveMillis} (0 for none) and {@code sizes}. It reports {@code ready}. On {@code look}
 * it reports {@code state}: {@code wrong}, {@code status}, {@code batches}, {@code longestMillis} (the longest pause
 * since the previous report), {@code portErrors} and {@code portActives} (events of its port), {@code endMillis} (from
 * the last batch to the error). On {@code stop} it reports the same after its current batch. It exits on {@code end}.
 */
public final class PingPong implements Role {
    private static final TrafficOperation[] OPERATIONS = TrafficOperation.values();

    private final AtomicLong batches = new AtomicLong();
    private final AtomicLong longestNanos = new AtomicLong();
    private final AtomicLong endNanos = new AtomicLong();
    private final AtomicInteger portErrors = new AtomicInteger();
    private final AtomicInteger portActives = new AtomicInteger();
    private volatile boolean stopping;
    private volatile long lastNanos;

    @Override
    public void run(Parent parent) throws Exception {
        Exchange exchange = new Exchange(
                new InetSocketAddress(parent.text("from", "127.0.0.1"), 0),
                new InetSocketAddress(parent.text("to", "127.0.0.1"), (int) parent.number("port", 0)),
                (int) parent.number("timeout", 0),
                parent.numbers("sizes"));
        exchange.side().queuePair().setKeepAlive(Duration.ofMillis(parent.number("keepAliveMillis", 0)));
        lastNanos = System.nanoTime();
        Thread watch = Thread.ofPlatform().daemon().start(() -> watchPort(exchange));
        Thread worker = Thread.ofPlatform().daemon().start(() -> work(exchange));
        parent.report("ready", 1);
        for (String command = parent.nextCommand(); !command.equals("end"); command = parent.nextCommand()) {
            if (command.equals("stop")) {
                stopping = true;
                worker.join();
            }
            parent.report("state", state(exchange));
        }
        stopping = true;
        worker.join();
        watch.interrupt();
        exchange.close();
    }

    private void work(Exchange exchange) {
        boolean running = true;
        for (long i = 0; running && !stopping; i++) {
            running = exchange.moveBatch(OPERATIONS[(int) (i % OPERATIONS.length)]);
            long now = System.nanoTime();
            longestNanos.accumulateAndGet(now - lastNanos, Math::max);
            endNanos.set(now - lastNanos);
            lastNanos = now;
            batches.incrementAndGet();
        }
    }

    private void watchPort(Exchange exchange) {
        try {
            while (!stopping) {
                @Nullable AsyncEvent event = exchange.side().id().verbs().awaitAsyncEvent(Duration.ofMillis(200));
                if (event != null && event.type() == AsyncEvent.Type.PORT_ERROR) {
                    portErrors.incrementAndGet();
                } else if (event != null && event.type() == AsyncEvent.Type.PORT_ACTIVE) {
                    portActives.incrementAndGet();
                }
            }
        } catch (RdmaException e) {
            System.err.println("events end: " + e.getMessage());
        }
    }

    private Map<String, Object> state(Exchange exchange) {
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("wrong", exchange.wrong());
        state.put("status", exchange.status().name());
        state.put("batches", batches.get());
        long pause = exchange.wrong().isEmpty() ? System.nanoTime() - lastNanos : 0;
        state.put("longestMillis", Math.max(longestNanos.getAndSet(0), pause) / 1_000_000);
        state.put("endMillis", endNanos.get() / 1_000_000);
        state.put("portErrors", portErrors.get());
        state.put("portActives", portActives.get());
        return state;
    }
}
