package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Latencies;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WarmUp;
import io.rdma4j.bench.worker.WorkerAddresses;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.HdrHistogram.Histogram;

/**
 * One connection after the other: opening a channel and connecting it, a round trip of one byte, and closing it. Both
 * ends block. The latencies cover opening and connecting; {@link Figures#CONNECTIONS_PER_SECOND} covers all steps.
 *
 * <p>Parameters: {@code kind} ({@code tcp}, or {@code rdma} for RDMA sockets).
 */
public final class ChannelOpening implements PairTest {
    /** Creates the measurement. */
    public ChannelOpening() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        Thread acceptor;
        try (ServerSocketChannel listener = Channels.listen(control, parameters)) {
            acceptor = Thread.ofPlatform().start(() -> acceptAll(listener));
            control.awaitPeer();
            control.serveQueries();
            control.awaitStop();
        }
        acceptor.join();
    }

    private static void acceptAll(ServerSocketChannel listener) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1);
        try {
            while (true) {
                try (SocketChannel channel = listener.accept()) {
                    while (channel.read(buffer.clear()) >= 0) {
                        channel.write(buffer.flip());
                    }
                }
            }
        } catch (ClosedChannelException end) {
            // the measurement is over
        } catch (IOException e) {
            throw new IllegalStateException("the server failed", e);
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        InetSocketAddress server = new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive());
        ByteBuffer buffer = ByteBuffer.allocateDirect(1);
        control.awaitPeer();
        Histogram openings = Latencies.create();
        WarmUp warmUp = WarmUp.begin(parameters, control);
        long begin = 0;
        long end = Long.MAX_VALUE;
        long now = System.nanoTime();
        while (now < end) {
            if (begin == 0 && warmUp.isOver(now)) {
                begin = System.nanoTime();
                now = begin;
                end = begin + parameters.measureNanos();
                openings.reset();
            }
            try (SocketChannel channel = Channels.open(parameters)) {
                channel.connect(server);
                openings.recordValue(System.nanoTime() - now);
                channel.write(buffer.clear());
                if (channel.read(buffer.clear()) != 1) {
                    throw new IOException("no reply");
                }
            }
            now = System.nanoTime();
        }
        control.stopPeer();
        figures.addLatency(openings, 1);
        figures.add(Figures.CONNECTIONS_PER_SECOND, openings.getTotalCount() * 1e9 / (now - begin));
        warmUp.report(figures);
    }
}
