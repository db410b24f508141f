package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A stream of bytes in one direction over a non-blocking {@link SocketChannel}, written and read {@code size} bytes at
 * a time.
 *
 * <p>Parameters: {@code kind} ({@code tcp} or {@code rdma}), {@code size}.
 */
public final class ChannelStream implements PairTest {
    private static final int CLOCK_EVERY_WRITES = 32;

    /** Creates the measurement. */
    public ChannelStream() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (SocketChannel channel = Channels.accept(control, parameters)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(parameters.number("size", 65_536));
            control.awaitPeer();
            control.serveQueries();
            long received = 0;
            while (!control.stopped()) {
                int count = channel.read(buffer.clear());
                if (count < 0) {
                    break;
                }
                if (count == 0) {
                    Thread.onSpinWait();
                } else {
                    received += count;
                    control.count(received);
                }
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int size = parameters.number("size", 65_536);
        try (SocketChannel channel = Channels.connect(control, parameters)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(size);
            control.awaitPeer();
            StreamMeter meter = new StreamMeter(control, parameters);
            writeAll(channel, buffer, meter);
            control.stopPeer();
            meter.report(figures, size);
        }
    }

    private static void writeAll(SocketChannel channel, ByteBuffer buffer, StreamMeter meter) throws IOException {
        int iteration = 0;
        while (iteration++ % CLOCK_EVERY_WRITES != 0 || meter.running()) {
            if (!buffer.hasRemaining()) {
                buffer.clear();
            }
            if (channel.write(buffer) == 0) {
                Thread.onSpinWait();
            }
        }
    }
}
