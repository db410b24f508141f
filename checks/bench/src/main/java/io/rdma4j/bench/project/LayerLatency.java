package io.rdma4j.bench.project;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.Message;
import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.verbs.RemoteMemory;
import java.io.IOException;

/**
 * Operations of a {@link Connection}, one at a time.
 *
 * <p>Parameters: {@code operation} ({@code send}: a message and a reply; {@code write}, {@code read}: the peer only
 * drives its device), {@code size}. The figure is half the round trip for messages, which are posted as in
 * {@link RdmaLatency}, without a wait for their acknowledgement. For other operations it is the time of the call, which
 * returns when the operation is complete.
 */
public final class LayerLatency implements PairTest {
    /** As many places for messages as {@link RdmaLatency} has posted receives. */
    private static final int MESSAGES = 32;

    /** Creates the measurement. */
    public LayerLatency() {}

    private static boolean isPingPong(Parameters parameters) {
        return parameters.text("operation", "send").equals("send");
    }

    private static int size(Parameters parameters) {
        return parameters.number("size", 64);
    }

    private static ConnectionOptions options(Parameters parameters) {
        ConnectionOptions options = ConnectionOptions.defaults();
        return isPingPong(parameters) ? options.withMessages(MESSAGES, size(parameters)) : options;
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (LayerEnd end = LayerEnd.serve(control, options(parameters), size(parameters))) {
            if (isPingPong(parameters)) {
                Connection connection = end.connection();
                Pings replies = new Pings(connection, size(parameters));
                control.awaitPeer();
                byte stamp;
                do {
                    stamp = replies.receive();
                    replies.send(stamp);
                } while (stamp != LatencyMeter.LAST);
                control.serveQueries();
                control.awaitStop();
            } else {
                control.awaitPeer();
                control.serveQueries();
                while (!control.stopped()) {
                    end.drive();
                    Thread.onSpinWait();
                }
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (LayerEnd end = LayerEnd.connect(control, options(parameters), size(parameters))) {
            Connection connection = end.connection();
            LatencyMeter meter = new LatencyMeter(parameters);
            control.awaitPeer();
            if (isPingPong(parameters)) {
                new Pings(connection, size(parameters)).exchangeAll(meter);
            } else {
                Buffer buffer = connection.allocate(size(parameters));
                boolean isWrite = parameters.text("operation", "send").equals("write");
                requestAll(connection, isWrite, buffer, meter);
            }
            meter.report(figures, isPingPong(parameters) ? 0.5 : 1);
            control.stopPeer();
        }
    }

    private static void requestAll(Connection connection, boolean isWrite, Buffer buffer, LatencyMeter meter) {
        RemoteMemory remote = connection.peer().memory();
        byte stamp;
        do {
            stamp = meter.next();
            if (isWrite) {
                connection.write(buffer, remote);
            } else {
                connection.read(buffer, remote);
            }
            meter.done();
        } while (stamp != LatencyMeter.LAST);
    }

    /** One end of a ping-pong. */
    private static final class Pings {
        private final Connection connection;
        private final Buffer buffer;
        private final Batch batch;

        Pings(Connection connection, int size) {
            this.connection = connection;
            buffer = connection.allocate(size);
            batch = connection.batch();
        }

        void exchangeAll(LatencyMeter meter) throws IOException {
            byte stamp;
            do {
                stamp = meter.next();
                send(stamp);
                if (receive() != stamp) {
                    throw new IOException("the reply does not match the request");
                }
                meter.done();
            } while (stamp != LatencyMeter.LAST);
        }

        void send(byte stamp) {
            batch.await(); // the peer has replied to the last message, so that it is complete or soon will be
            buffer.memory().set(JAVA_BYTE, buffer.lengthBytes() - 1, stamp);
            batch.send(buffer).post();
        }

        byte receive() {
            try (Message message = connection.receive()) {
                return message.memory().get(JAVA_BYTE, message.lengthBytes() - 1);
            }
        }
    }
}
