package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Round trips of messages over a {@link SocketChannel}.
 *
 * <p>Parameters: {@code kind} ({@code tcp}, or {@code rdma} for RDMA sockets), {@code size}, {@code wait} ({@code poll}
 * or {@code block}).
 */
public final class ChannelLatency implements PairTest {
    /** Creates the measurement. */
    public ChannelLatency() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (SocketChannel channel = Channels.accept(control, parameters)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(parameters.number("size", 64));
            control.awaitPeer();
            byte stamp;
            do {
                stamp = receive(channel, buffer);
                send(channel, buffer, stamp);
            } while (stamp != LatencyMeter.LAST);
            control.serveQueries();
            control.awaitStop();
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (SocketChannel channel = Channels.connect(control, parameters)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(parameters.number("size", 64));
            LatencyMeter meter = new LatencyMeter(parameters);
            control.awaitPeer();
            byte stamp;
            do {
                stamp = meter.next();
                send(channel, buffer, stamp);
                if (receive(channel, buffer) != stamp) {
                    throw new IOException("the reply does not match the request");
                }
                meter.done();
            } while (stamp != LatencyMeter.LAST);
            meter.report(figures, 0.5);
            control.stopPeer();
        }
    }

    private static void send(SocketChannel channel, ByteBuffer buffer, byte stamp) throws IOException {
        buffer.clear().put(0, stamp);
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                Thread.onSpinWait();
            }
        }
    }

    private static byte receive(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            int count = channel.read(buffer);
            if (count < 0) {
                throw new EOFException("the peer has closed the connection");
            }
            if (count == 0) {
                Thread.onSpinWait();
            }
        }
        return buffer.get(0);
    }
}
