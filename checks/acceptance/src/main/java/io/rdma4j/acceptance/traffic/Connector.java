package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Connects to a {@link PassiveTarget}, writes once, disconnects, and measures the durations.
 *
 * <p>The parameters are {@code from}, {@code to}, {@code port}, {@code seed} and {@code eitherCloses}: 1 lets the
 * target close first at random, 0 lets this side always close first. The value 1 needs a path without loss, because a
 * side that exits immediately may not repeat the last acknowledgement. On {@code connect COUNT THREADS} it reports
 * {@code done}: {@code connectNanos} and {@code closeNanos} of the successful connections, {@code wrong} of the others,
 * and {@code repeatedNumbers}, the number of repeated queue pair numbers so far. It exits on {@code end}.
 */
public final class Connector implements Role {
    private static final int MESSAGE_BYTES = 64;
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final Duration QUIET = Duration.ofMillis(1);

    private final List<Long> connectNanos = Collections.synchronizedList(new ArrayList<>());
    private final List<Long> closeNanos = Collections.synchronizedList(new ArrayList<>());
    private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());

    /**
     * The numbers of all queue pairs so far. Allocated with its maximum size, so that the resource usage of this
     * process can be compared.
     */
    private final BitSet numbers = new BitSet(1 << 24);

    private final AtomicInteger repeated = new AtomicInteger();

    private final Random random = new Random();
    private boolean eitherCloses;

    @Override
    public void run(Parent parent) throws IOException, InterruptedException {
        InetSocketAddress from = new InetSocketAddress(parent.text("from", "127.0.0.1"), 0);
        InetSocketAddress to = new InetSocketAddress(parent.text("to", "127.0.0.1"), (int) parent.number("port", 0));
        eitherCloses = parent.number("eitherCloses", 0) == 1;
        random.setSeed(parent.number("seed", 1));
        parent.report("ready", 1);
        for (String line = parent.nextCommand(); !line.equals("end"); line = parent.nextCommand()) {
            String[] arguments = line.split(" ", -1);
            int count = Integer.parseInt(arguments[1]);
            try (ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(arguments[2]))) {
                for (int i = 0; i < count; i++) {
                    threads.execute(() -> connect(from, to));
                }
            }
            Map<String, Object> done = new LinkedHashMap<>();
            done.put("connectNanos", List.copyOf(connectNanos));
            done.put("closeNanos", List.copyOf(closeNanos));
            done.put("wrong", List.copyOf(wrong));
            done.put("repeatedNumbers", repeated.get());
            parent.report("done", done);
            connectNanos.clear();
            closeNanos.clear();
            wrong.clear();
        }
    }

    private void connect(InetSocketAddress from, InetSocketAddress to) {
        long begin = System.nanoTime();
        try {
            TrafficSide side = TrafficSide.connect(from, to, TrafficSide.Shape.of(4, 4, 4096));
            long connected = System.nanoTime();
            try (@Nullable CmEvent event = side.events().await(QUIET)) {
                if (event != null) {
                    wrong.add("after ESTABLISHED: " + event.type());
                }
            }
            addNumber(side.queuePair().number());
            boolean peerCloses = eitherCloses && random.nextBoolean();
            writeOnce(side, peerCloses);
            long closing = System.nanoTime();
            if (peerCloses) {
                awaitEnd(side);
            }
            side.close();
            connectNanos.add(connected - begin);
            closeNanos.add(System.nanoTime() - closing);
        } catch (RdmaException e) {
            wrong.add(e.getMessage() + ", after " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin) + " ms");
        }
    }

    private void addNumber(int number) {
        synchronized (numbers) {
            repeated.addAndGet(numbers.get(number) ? 1 : 0);
            numbers.set(number);
        }
    }

    private void awaitEnd(TrafficSide side) {
        long deadline = System.nanoTime() + STEP.toNanos();
        while (System.nanoTime() - deadline < 0) {
            try (@Nullable CmEvent event = side.events().await(STEP)) {
                if (event != null && event.type() == CmEvent.Type.DISCONNECTED) {
                    return;
                }
            }
        }
        wrong.add("the peer does not close");
    }

    /** Writes with immediate data if the peer is to close first. */
    private void writeOnce(TrafficSide side, boolean peerCloses) {
        SendWorkRequest request = new SendWorkRequest()
                .reset(1)
                .from(side.region(), 0, MESSAGE_BYTES)
                .write(side.remoteAddress(), side.remoteKey())
                .signaled();
        side.queuePair().postSend(peerCloses ? request.withImmediate(0) : request);
        WorkCompletion[] one = WorkCompletion.array(1);
        if (side.await(one, STEP) == 0 || !one[0].isSuccess()) {
            wrong.add("a write: " + one[0]);
        }
    }
}
