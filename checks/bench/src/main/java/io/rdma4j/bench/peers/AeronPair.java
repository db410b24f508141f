package io.rdma4j.bench.peers;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import io.rdma4j.bench.worker.WorkerAddresses;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Messages over Aeron, on UDP or through shared memory.
 *
 * <p>Parameters: {@code media} ({@code udp}, {@code ipc}), {@code mode} ({@code latency}, {@code stream}), {@code size}, {@code mtu}
 * (maximum size of a datagram). A stream is counted by its fragments. Messages larger than a datagram are not reassembled, which an
 * application would have to do.
 */
public final class AeronPair implements PairTest {
    private static final int FRAGMENTS = 64;

    /** Creates the measurement. */
    public AeronPair() {}

    private static String channel(String host, int port, Parameters parameters) {
        return "aeron:udp?endpoint=" + host + ":" + port + "|mtu=" + parameters.number("mtu", 1408);
    }

    private static int freePort(String host) throws IOException {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getByName(host), 0))) {
            return socket.getLocalPort();
        }
    }

    /** The publication and subscription of one end. */
    private static final class Streams implements AutoCloseable {
        private static final String SHARED_MEMORY = "aeron:ipc";

        private final AeronEnd end;
        private final Subscription in;
        private final ExclusivePublication out;
        private final UnsafeBuffer buffer;
        private byte stamp;

        Streams(Control control, Parameters parameters, boolean isServer) throws IOException {
            if (parameters.text("media", "udp").equals("ipc")) {
                end = AeronEnd.sharingDriver(control, isServer);
                in = end.subscribe(SHARED_MEMORY, isServer);
                out = end.publish(SHARED_MEMORY, isServer);
            } else {
                end = AeronEnd.withDriver();
                String localHost = isServer ? WorkerAddresses.SERVER : WorkerAddresses.CLIENT;
                String remoteHost = isServer ? WorkerAddresses.CLIENT : WorkerAddresses.SERVER;
                int port = freePort(localHost);
                control.send(port);
                in = end.subscribe(channel(localHost, port, parameters), isServer);
                out = end.publish(channel(remoteHost, (int) control.receive(), parameters), isServer);
            }
            end.awaitConnected(in, out);
            buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(parameters.number("size", 64)));
        }

        void send(byte value) throws IOException {
            buffer.putByte(0, value);
            while (!offer()) {
                Thread.onSpinWait();
            }
            // The driver sends only when it is invoked.
            end.invoke();
        }

        boolean offer() throws IOException {
            long result = out.offer(buffer, 0, buffer.capacity());
            if (result == Publication.CLOSED || result == Publication.MAX_POSITION_EXCEEDED) {
                throw new IOException("Aeron's publication ended: " + result);
            }
            if (result < 0) {
                end.invoke();
            }
            return result >= 0;
        }

        byte receive() {
            while (in.poll(onMessage, FRAGMENTS) == 0) {
                end.invoke();
            }
            return stamp;
        }

        private final FragmentHandler onMessage = (data, offset, _, _) -> stamp = data.getByte(offset);

        @Override
        public void close() {
            end.close();
        }
    }

    private static boolean isLatency(Parameters parameters) {
        return parameters.text("mode", "latency").equals("latency");
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (Streams streams = new Streams(control, parameters, true)) {
            if (isLatency(parameters)) {
                byte stamp;
                do {
                    stamp = streams.receive();
                    streams.send(stamp);
                } while (stamp != LatencyMeter.LAST);
            }
            control.serveQueries();
            long[] received = {0};
            FragmentHandler count = (_, _, length, _) -> received[0] += length;
            while (!control.stopped()) {
                streams.end.invoke();
                if (streams.in.poll(count, FRAGMENTS) > 0) {
                    control.count(received[0]);
                }
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (Streams streams = new Streams(control, parameters, false)) {
            // The sides do not wait for each other here: a side that waits would not run its driver, which the other
            // side's handshake needs.
            if (isLatency(parameters)) {
                LatencyMeter meter = new LatencyMeter(parameters);
                byte stamp;
                do {
                    stamp = meter.next();
                    streams.send(stamp);
                    if (streams.receive() != stamp) {
                        throw new IOException("the reply does not match the request");
                    }
                    meter.done();
                } while (stamp != LatencyMeter.LAST);
                meter.report(figures, 0.5);
            } else {
                StreamMeter meter = new StreamMeter(control, parameters);
                int iteration = 0;
                while (iteration++ % 64 != 0 || meter.running()) {
                    streams.offer();
                    if (iteration % 16 == 0) {
                        streams.end.invoke();
                    }
                }
                meter.report(figures, parameters.number("size", 64));
            }
            control.stopPeer();
        }
    }
}
