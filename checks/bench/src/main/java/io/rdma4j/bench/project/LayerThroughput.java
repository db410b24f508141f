package io.rdma4j.bench.project;

import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.Message;
import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import io.rdma4j.verbs.RemoteMemory;
import java.io.IOException;
import java.util.Arrays;

/**
 * Operations of a {@link Connection} in one direction.
 *
 * <p>The parameters are:
 * <ul>
 * <li>{@code operation}: {@code write}, {@code send} or {@code read}
 * <li>{@code size}
 * <li>{@code depth}: operations in flight
 * <li>{@code batch}: operations of one {@link Batch}; as many batches as the depth allows are in flight. 0 for calls of the
 *     connection, each of which waits for its operation
 * </ul>
 *
 * <p>The peer takes the messages as they arrive. Without messages it only drives its device. The figures count completed
 * operations.
 */
public final class LayerThroughput implements PairTest {
    /**
     * The memory for messages of the passive end, within the limits of their number. It is as small as in
     * {@link RdmaThroughput}, where receives of large messages share memory, so that it fits into the processor's
     * caches. Each message of a connection has a separate place.
     */
    private static final int PLACES_BYTES = 1 << 20;

    private static final int MIN_PLACES = 32;
    private static final int MAX_PLACES = 1024;

    /** Creates the measurement. */
    public LayerThroughput() {}

    private static int size(Parameters parameters) {
        return parameters.number("size", 65_536);
    }

    private static int depth(Parameters parameters) {
        return parameters.number("depth", 16);
    }

    private static long exposedBytes(Parameters parameters) {
        return (long) size(parameters) * depth(parameters);
    }

    private static String operation(Parameters parameters) {
        return parameters.text("operation", "write");
    }

    private static boolean isSend(Parameters parameters) {
        return operation(parameters).equals("send");
    }

    private static ConnectionOptions options(Parameters parameters) {
        return ConnectionOptions.defaults().withSends(depth(parameters));
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        ConnectionOptions options = options(parameters);
        if (isSend(parameters)) {
            int places = Math.clamp(PLACES_BYTES / size(parameters), MIN_PLACES, MAX_PLACES);
            options = options.withMessages(places, size(parameters));
        }
        try (LayerEnd end = LayerEnd.serve(control, options, exposedBytes(parameters))) {
            control.awaitPeer();
            control.serveQueries();
            if (isSend(parameters)) {
                for (Message message : end.connection().messages()) { // until the active end closes the connection
                    message.close();
                }
                control.awaitStop();
            } else {
                while (!control.stopped()) {
                    end.drive();
                    Thread.onSpinWait();
                }
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        StreamMeter meter;
        try (LayerEnd end = LayerEnd.connect(control, options(parameters), exposedBytes(parameters))) {
            control.awaitPeer();
            meter = new StreamMeter(control, parameters);
            Operations operations = new Operations(end.connection(), parameters);
            if (parameters.number("batch", 1) == 0) {
                operations.callAll(meter);
            } else {
                operations.postAll(meter, parameters.number("batch", 1));
            }
        }
        control.stopPeer();
        meter.report(figures, size(parameters));
    }

    /** The operations of the active end, each of which has separate memory while it is in flight. */
    private static final class Operations {
        private static final int CLOCK_EVERY_ITERATIONS = 32;

        private final Connection connection;
        private final String operation;
        private final int size;
        private final Buffer[] local;
        private final RemoteMemory[] remote;
        private int next;
        private long completedBytes;

        Operations(Connection connection, Parameters parameters) {
            this.connection = connection;
            operation = operation(parameters);
            size = size(parameters);
            Buffer whole = connection.allocate(exposedBytes(parameters));
            RemoteMemory exposed = connection.peer().memory();
            local = new Buffer[depth(parameters)];
            remote = new RemoteMemory[local.length];
            Arrays.setAll(local, i -> whole.slice((long) i * size, size));
            Arrays.setAll(remote, i -> exposed.slice((long) i * size, size));
        }

        private int nextSlot() {
            int slot = next;
            next = slot + 1 == local.length ? 0 : slot + 1;
            return slot;
        }

        void postAll(StreamMeter meter, int batchSize) throws IOException {
            Batch[] batches = new Batch[local.length / batchSize];
            Arrays.setAll(batches, i -> connection.batch());
            int iteration = 0;
            int oldest = 0;
            while (iteration++ % CLOCK_EVERY_ITERATIONS != 0 || meter.running(completedBytes)) {
                Batch batch = batches[oldest];
                oldest = oldest + 1 == batches.length ? 0 : oldest + 1;
                if (iteration > batches.length) {
                    batch.await();
                    completedBytes += (long) batchSize * size;
                }
                for (int i = 0; i < batchSize; i++) {
                    add(batch, nextSlot());
                }
                batch.post();
            }
        }

        private void add(Batch batch, int slot) {
            Batch _ = switch (operation) {
                case "write" -> batch.write(local[slot], remote[slot]);
                case "read" -> batch.read(local[slot], remote[slot]);
                case "send" -> batch.send(local[slot]);
                default -> throw new IllegalArgumentException("operation " + operation);
            };
        }

        void callAll(StreamMeter meter) throws IOException {
            int iteration = 0;
            while (iteration++ % CLOCK_EVERY_ITERATIONS != 0 || meter.running(completedBytes)) {
                call(nextSlot());
                completedBytes += size;
            }
        }

        private void call(int slot) {
            switch (operation) {
                case "write" -> connection.write(local[slot], remote[slot]);
                case "read" -> connection.read(local[slot], remote[slot]);
                case "send" -> connection.send(local[slot]);
                default -> throw new IllegalArgumentException("operation " + operation);
            }
        }
    }
}
