package io.rdma4j.bench.project;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.io.IOException;
import java.lang.invoke.VarHandle;

/**
 * Round trips over one reliable connection.
 *
 * <p>Parameters: {@code operation} ({@code write}: the peer polls its memory and writes back; {@code send};
 * {@code acknowledged-write}, {@code read}, {@code compare-and-swap}, {@code fetch-and-add}: the peer only drives its
 * device), {@code size}, {@code wait} ({@code poll} or {@code block}; not for {@code write}), {@code vector} (of
 * completions). The figure is half the round trip for {@code write} and {@code send}, and the whole one, until the
 * completion, for other operations.
 */
public final class RdmaLatency implements PairTest {
    private static final int DEPTH = 128;
    private static final int SIGNAL_EVERY = 16;
    private static final VarHandle BYTE = JAVA_BYTE.varHandle();

    /** Creates the measurement. */
    public RdmaLatency() {}

    private static RdmaEnd.Shape shape(Parameters parameters) {
        long size = Math.max(8, parameters.number("size", 64));
        return new RdmaEnd.Shape(1, DEPTH, DEPTH, 2 * aligned(size), parameters.number("vector", 0));
    }

    private static long aligned(long size) {
        return (size + 63) & -64L;
    }

    private static boolean isPingPong(String operation) {
        return operation.equals("write") || operation.equals("send");
    }

    private static PingPongEnd pingPong(RdmaEnd end, Parameters parameters) {
        return parameters.text("operation", "send").equals("write")
                ? new WriteEnd(end, parameters)
                : new SendEnd(end, parameters);
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (RdmaEnd end = RdmaEnd.serve(control, shape(parameters))) {
            if (!isPingPong(parameters.text("operation", "send"))) {
                control.awaitPeer();
                control.serveQueries();
                while (!control.stopped()) {
                    end.poll();
                    Thread.onSpinWait();
                }
                return;
            }
            PingPongEnd pingPong = pingPong(end, parameters);
            control.awaitPeer();
            byte stamp;
            do {
                stamp = pingPong.receive();
                pingPong.send(stamp);
            } while (stamp != LatencyMeter.LAST);
            // The last reply must be acknowledged before this end closes.
            control.serveQueries();
            while (!control.stopped()) {
                end.poll();
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        String operation = parameters.text("operation", "send");
        try (RdmaEnd end = RdmaEnd.connect(control, shape(parameters))) {
            LatencyMeter meter;
            if (isPingPong(operation)) {
                PingPongEnd pingPong = pingPong(end, parameters);
                meter = new LatencyMeter(parameters);
                control.awaitPeer();
                byte stamp;
                do {
                    stamp = meter.next();
                    pingPong.send(stamp);
                    if (pingPong.receive() != stamp) {
                        throw new IOException("the reply does not match the request");
                    }
                    meter.done();
                } while (stamp != LatencyMeter.LAST);
            } else {
                meter = new LatencyMeter(parameters);
                control.awaitPeer();
                boolean block = parameters.text("wait", "poll").equals("block");
                requestAll(end, request(end, operation, parameters), block, meter);
            }
            meter.report(figures, isPingPong(operation) ? 0.5 : 1);
            control.stopPeer();
        }
    }

    private static SendWorkRequest request(RdmaEnd end, String operation, Parameters parameters) {
        SendWorkRequest request = new SendWorkRequest().reset(1);
        long address = end.remoteAddress();
        int key = end.remoteKey();
        int size = parameters.number("size", 64);
        return switch (operation) {
            case "acknowledged-write" ->
                request.write(address, key).from(end.region(), 0, size).signaled();
            case "read" ->
                request.read(address, key).from(end.region(), 0, size).signaled();
            case "compare-and-swap" ->
                request.compareAndSwap(address, key, 0, 0)
                        .from(end.region(), 0, 8)
                        .signaled();
            case "fetch-and-add" ->
                request.fetchAndAdd(address, key, 1).from(end.region(), 0, 8).signaled();
            default -> throw new IllegalArgumentException("operation " + operation);
        };
    }

    private static void requestAll(RdmaEnd end, SendWorkRequest request, boolean block, LatencyMeter meter)
            throws IOException {
        byte stamp;
        do {
            stamp = meter.next();
            end.queuePair().postSend(request);
            while ((block ? end.await() : end.poll()) == 0) {
                Thread.onSpinWait();
            }
            meter.done();
        } while (stamp != LatencyMeter.LAST);
    }

    /** One end of a ping-pong. */
    private abstract static class PingPongEnd {
        final RdmaEnd end;
        final int size;
        private final SendWorkRequest request = new SendWorkRequest();
        private int posted;
        private int completed;

        PingPongEnd(RdmaEnd end, Parameters parameters) {
            this.end = end;
            size = parameters.number("size", 64);
        }

        abstract void fill(SendWorkRequest empty);

        abstract byte receive() throws IOException;

        void send(byte stamp) throws IOException {
            while (posted - completed > DEPTH - SIGNAL_EVERY) {
                onSent(end.poll());
            }
            end.region().memory().set(JAVA_BYTE, size - 1L, stamp);
            fill(request.reset(0));
            posted++;
            if (posted % SIGNAL_EVERY == 0) {
                request.signaled();
            }
            end.queuePair().postSend(request);
        }

        private void onSent(int signaled) {
            completed += signaled * SIGNAL_EVERY;
        }

        /** Called when {@code signaled} completions of sends were polled. */
        final void sent(int signaled) {
            onSent(signaled);
        }
    }

    /** An end that receives WRITEs: a message is complete when its last byte has changed. */
    private static final class WriteEnd extends PingPongEnd {
        private final long inbox;
        private byte lastStamp;

        WriteEnd(RdmaEnd end, Parameters parameters) {
            super(end, parameters);
            inbox = aligned(Math.max(8, size));
        }

        @Override
        void fill(SendWorkRequest empty) {
            empty.write(end.remoteAddress() + inbox, end.remoteKey()).from(end.region(), 0, size);
        }

        @Override
        byte receive() throws IOException {
            while (true) {
                byte stamp = (byte) BYTE.getAcquire(end.region().memory(), inbox + size - 1);
                if (stamp != lastStamp) {
                    lastStamp = stamp;
                    return stamp;
                }
                sent(end.poll());
                Thread.onSpinWait();
            }
        }
    }

    /** An end that receives SENDs: a message is complete when its receive is. */
    private static final class SendEnd extends PingPongEnd {
        private static final int RECEIVES = 32;

        private final boolean block;
        private final long inbox;
        private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

        SendEnd(RdmaEnd end, Parameters parameters) {
            super(end, parameters);
            block = parameters.text("wait", "poll").equals("block");
            inbox = aligned(Math.max(8, size));
            for (int i = 0; i < RECEIVES; i++) {
                postReceive();
            }
        }

        private void postReceive() {
            end.queuePair().postReceive(receive.reset(1).into(end.region(), inbox, size));
        }

        @Override
        void fill(SendWorkRequest empty) {
            empty.from(end.region(), 0, size);
        }

        @Override
        byte receive() throws IOException {
            while (true) {
                int count = block ? end.await() : end.poll();
                boolean received = false;
                for (int i = 0; i < count; i++) {
                    if (end.completion(i).opcode().isReceive()) {
                        received = true;
                    } else {
                        sent(1);
                    }
                }
                if (received) {
                    byte stamp = end.region().memory().get(JAVA_BYTE, inbox + size - 1);
                    postReceive();
                    return stamp;
                }
                if (!block) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
