package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Messages in one direction over reliable connections, several of them in flight.
 *
 * <p>The parameters are:
 * <ul>
 * <li>{@code operation}: {@code write}, {@code send} or {@code read}
 * <li>{@code size}, and {@code queuePairs}
 * <li>{@code depth}: messages in flight on each queue pair
 * <li>{@code batch}: messages posted one after the other, of which the last is signaled
 * <li>{@code passive}: {@code poll} if the peer polls, like an application with work to do; otherwise {@code idle}
 * <li>{@code wait}: {@code poll}; or {@code block} to wait at the completion channel, at the active end when {@code depth}
 *     messages are in flight, and at the passive end for SENDs
 * <li>{@code vector}: the completion vector
 * </ul>
 *
 * <p>The figures count completed messages.
 */
public final class RdmaThroughput implements PairTest {
    private static final long USER_BYTES = 1 << 20;

    /**
     * Number of posted receives, the same as in perftest: a passive end that gets no processor for a while rarely runs
     * out of them.
     */
    private static final int MIN_RECEIVES = 512;

    /** The time after which a passive end that waits at the completion channel checks whether it was stopped. */
    private static final Duration STOP_CHECK = Duration.ofMillis(100);

    /** Creates the measurement. */
    public RdmaThroughput() {}

    private static boolean blocks(Parameters parameters) {
        return parameters.text("wait", "poll").equals("block");
    }

    private static RdmaEnd.Shape shape(Parameters parameters) {
        long size = parameters.number("size", 65_536);
        int depth = depth(parameters);
        boolean send = parameters.text("operation", "write").equals("send");
        return new RdmaEnd.Shape(
                parameters.number("queuePairs", 1),
                depth,
                send ? receives(depth) : 1,
                Math.max(size, USER_BYTES),
                parameters.number("vector", 0));
    }

    private static int receives(int depth) {
        return Math.max(MIN_RECEIVES, 2 * depth);
    }

    private static int depth(Parameters parameters) {
        return parameters.number("depth", 16);
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (RdmaEnd end = RdmaEnd.serve(control, shape(parameters))) {
            Receives receives = new Receives(end, parameters);
            control.awaitPeer();
            control.serveQueries();
            if (parameters.text("passive", "poll").equals("idle") && !receives.needed()) {
                control.awaitStop();
            } else if (blocks(parameters) && receives.needed()) {
                while (!control.stopped()) {
                    receives.handle(end.await(STOP_CHECK));
                }
            } else {
                while (!control.stopped()) {
                    if (!receives.handle(end.poll())) {
                        Thread.onSpinWait();
                    }
                }
            }
        }
    }

    /** The posted receives of the passive end. */
    private static final class Receives {
        private final RdmaEnd end;
        private final int size;
        private final boolean needed;
        private final Map<Integer, QueuePair> byNumber = new HashMap<>();
        private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
        private final QueuePair single;
        private long offset;

        Receives(RdmaEnd end, Parameters parameters) {
            this.end = end;
            size = parameters.number("size", 65_536);
            needed = parameters.text("operation", "write").equals("send");
            single = end.queuePair();
            for (QueuePair queuePair : end.queuePairs()) {
                byNumber.put(queuePair.number(), queuePair);
                for (int i = 0; needed && i < receives(depth(parameters)); i++) {
                    post(queuePair);
                }
            }
        }

        boolean needed() {
            return needed;
        }

        private void post(QueuePair queuePair) {
            queuePair.postReceive(receive.reset(1).into(end.region(), offset, size));
            offset = next(offset, size);
        }

        boolean handle(int count) {
            for (int i = 0; i < count; i++) {
                if (end.completion(i).opcode().isReceive()) {
                    QueuePair queuePair = byNumber.size() == 1
                            ? single
                            : byNumber.getOrDefault(end.completion(i).queuePairNumber(), single);
                    post(queuePair);
                }
            }
            return count > 0;
        }
    }

    private static long next(long offset, int size) {
        long following = offset + size;
        return following + size > Math.max(size, USER_BYTES) ? 0 : following;
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (RdmaEnd end = RdmaEnd.connect(control, shape(parameters))) {
            control.awaitPeer();
            StreamMeter meter = new StreamMeter(control, parameters);
            new Requests(end, parameters).run(meter);
            control.stopPeer();
            meter.report(figures, parameters.number("size", 65_536));
        }
    }

    /** The requests of the active end. */
    private static final class Requests {
        private static final int CLOCK_EVERY_ITERATIONS = 32;

        private final RdmaEnd end;
        private final String operation;
        private final int size;
        private final int depth;
        private final int batch;
        private final boolean block;
        private final int[] inFlight;
        private final SendWorkRequest[] requests;
        private long offset;
        private long completedBytes;

        Requests(RdmaEnd end, Parameters parameters) {
            this.end = end;
            operation = parameters.text("operation", "write");
            size = parameters.number("size", 65_536);
            depth = depth(parameters);
            batch = parameters.number("batch", 1);
            block = blocks(parameters);
            inFlight = new int[end.queuePairs().size()];
            requests = new SendWorkRequest[batch];
            Arrays.setAll(requests, i -> new SendWorkRequest());
        }

        void run(StreamMeter meter) throws IOException {
            int iteration = 0;
            while (iteration++ % CLOCK_EVERY_ITERATIONS != 0 || meter.running(completedBytes)) {
                boolean isFull = true;
                for (int i = 0; i < inFlight.length; i++) {
                    if (inFlight[i] + batch <= depth) {
                        postBatch(i);
                        isFull &= inFlight[i] + batch > depth;
                    }
                }
                complete(block && isFull ? end.await() : end.poll());
            }
        }

        private void postBatch(int index) {
            for (int i = 0; i < batch; i++) {
                SendWorkRequest request = requests[i].reset(index);
                switch (operation) {
                    case "write" -> request.write(end.remoteAddress() + offset, end.remoteKey());
                    case "read" -> request.read(end.remoteAddress() + offset, end.remoteKey());
                    case "send" -> {}
                    default -> throw new IllegalArgumentException("operation " + operation);
                }
                request.from(end.region(), offset, size);
                offset = next(offset, size);
            }
            requests[batch - 1].signaled();
            end.queuePairs().get(index).postSends(requests, batch);
            inFlight[index] += batch;
        }

        private void complete(int count) {
            for (int i = 0; i < count; i++) {
                inFlight[(int) end.completion(i).id()] -= batch;
                completedBytes += (long) batch * size;
            }
        }
    }
}
