package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import java.io.IOException;

/**
 * Messages over UCX through JUCX.
 *
 * <p>Parameters: {@code operation} ({@code tag}, {@code put}: the peer polls its memory and puts back, {@code get}),
 * {@code mode} ({@code latency}, {@code stream}; {@code stream} only for {@code tag}), {@code size}. The latency of
 * {@code get} is the time of the whole operation.
 */
public final class UcxPair implements PairTest {
    private static final int DEPTH = 16;

    /** Creates the measurement. */
    public UcxPair() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        UcxEnd end = new UcxEnd(control, parameters);
        String operation = parameters.text("operation", "tag");
        int size = parameters.number("size", 64);
        control.send(0);
        if (parameters.text("mode", "latency").equals("latency") && !operation.equals("get")) {
            PingPongEnd pingPong = new PingPongEnd(end, operation, size);
            byte stamp;
            do {
                stamp = pingPong.receive();
                pingPong.send(stamp);
            } while (stamp != LatencyMeter.LAST);
        }
        control.serveQueries();
        boolean receives = parameters.text("mode", "latency").equals("stream");
        int posted = end.completed();
        while (!control.stopped()) {
            for (; receives && posted - end.completed() < DEPTH; posted++) {
                end.receiveTagged(size);
            }
            end.progress();
            control.count((long) end.completed() * size);
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        UcxEnd end = new UcxEnd(control, parameters);
        control.receive();
        int size = parameters.number("size", 64);
        String operation = parameters.text("operation", "tag");
        if (parameters.text("mode", "latency").equals("stream")) {
            StreamMeter meter = new StreamMeter(control, parameters);
            stream(end, size, meter);
            meter.report(figures, size);
        } else {
            LatencyMeter meter = new LatencyMeter(parameters);
            if (operation.equals("get")) {
                getAll(end, size, meter);
                meter.report(figures, 1);
            } else {
                pingAll(new PingPongEnd(end, operation, size), meter);
                meter.report(figures, 0.5);
            }
        }
        control.stopPeer();
    }

    private static void pingAll(PingPongEnd pingPong, LatencyMeter meter) throws IOException {
        byte stamp;
        do {
            stamp = meter.next();
            pingPong.send(stamp);
            if (pingPong.receive() != stamp) {
                throw new IOException("the reply does not match the request");
            }
            meter.done();
        } while (stamp != LatencyMeter.LAST);
    }

    private static void getAll(UcxEnd end, int size, LatencyMeter meter) throws IOException {
        byte stamp;
        do {
            stamp = meter.next();
            int before = end.completed();
            end.get(size);
            end.await(before, 1);
            meter.done();
        } while (stamp != LatencyMeter.LAST);
    }

    private static void stream(UcxEnd end, int size, StreamMeter meter) throws IOException {
        int posted = end.completed();
        int iteration = 0;
        while (iteration++ % 16 != 0 || meter.running()) {
            for (; posted - end.completed() < DEPTH; posted++) {
                end.sendTagged(size);
            }
            end.progress();
        }
    }

    /** One end of a ping-pong. */
    private static final class PingPongEnd {
        private final UcxEnd end;
        private final boolean put;
        private final int size;
        private final int inbox;
        private byte lastStamp;

        PingPongEnd(UcxEnd end, String operation, int size) {
            this.end = end;
            this.size = size;
            put = operation.equals("put");
            inbox = end.memory().capacity() / 2;
        }

        void send(byte stamp) throws IOException {
            end.memory().put(size - 1, stamp);
            int before = end.completed();
            if (put) {
                end.put(size);
            } else {
                end.sendTagged(size);
            }
            end.await(before, 1);
        }

        byte receive() throws IOException {
            if (!put) {
                int before = end.completed();
                end.receiveTagged(size);
                end.await(before, 1);
                return end.memory().get(inbox + size - 1);
            }
            while (end.memory().get(inbox + size - 1) == lastStamp) {
                end.progress();
            }
            lastStamp = end.memory().get(inbox + size - 1);
            return lastStamp;
        }
    }
}
