package io.rdma4j.bench.raw;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import io.rdma4j.bench.worker.WorkerAddresses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * A stream of packets in one direction, paced by acknowledgements.
 *
 * <p>The receiver returns a datagram with the number of received bytes for each quarter of a window of 1 MiB. A packet
 * is {@code size} bytes of payload and 32 of header and CRC. Parameters: {@code segments} per call (1: plain
 * {@code sendto} and {@code recv}), {@code copy} (payload is copied from and to other memory), {@code crc} (over each
 * packet, at both ends).
 */
public final class RawStream implements PairTest {
    private static final int SOCKET_BUFFER_BYTES = 16 << 20;
    private static final long WINDOW_BYTES = 1 << 20;
    private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int CLOCK_EVERY_BURSTS = 16;

    /** Creates the measurement. */
    public RawStream() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (UdpSocket socket = new UdpSocket(WorkerAddresses.SERVER, SOCKET_BUFFER_BYTES);
                Arena arena = Arena.ofShared()) {
            control.send(socket.port());
            socket.peer(WorkerAddresses.CLIENT, (int) control.receive());
            Packets packets = new Packets(arena, parameters);
            socket.prepareSegments(packets.staging(), packets.staging());
            control.awaitPeer();
            control.serveQueries();
            receiveAll(control, socket, packets, arena.allocate(8, 8));
        }
    }

    private static void receiveAll(Control control, UdpSocket socket, Packets packets, MemorySegment acknowledgement)
            throws IOException {
        long received = 0;
        long acknowledged = 0;
        boolean single = packets.segments() == 1;
        while (!control.stopped()) {
            long bytes = single ? socket.receive(packets.staging(), false) : socket.receiveSegments();
            if (bytes < 0) {
                Thread.onSpinWait();
                continue;
            }
            received += packets.unpack(bytes, single ? (int) bytes : socket.segmentBytes());
            control.count(received);
            if (received - acknowledged >= WINDOW_BYTES / 4) {
                acknowledged = received;
                acknowledgement.set(JAVA_LONG, 0, received);
                socket.send(acknowledgement, 8);
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (UdpSocket socket = new UdpSocket(WorkerAddresses.CLIENT, SOCKET_BUFFER_BYTES);
                Arena arena = Arena.ofShared()) {
            socket.peer(WorkerAddresses.SERVER, (int) control.receive());
            control.send(socket.port());
            Packets packets = new Packets(arena, parameters);
            socket.prepareSegments(packets.staging(), packets.staging());
            control.awaitPeer();
            StreamMeter meter = new StreamMeter(control, parameters);
            new Sender(socket, packets, arena.allocate(8, 8)).run(meter);
            control.stopPeer();
            meter.report(figures, packets.payloadBytes());
        }
    }

    /** Keeps a window of bytes in flight. */
    private static final class Sender {
        private final UdpSocket socket;
        private final Packets packets;
        private final MemorySegment acknowledgement;
        private long sent;
        private long arrived;
        /** Bytes that were sent and are treated as lost. */
        private long lost;

        Sender(UdpSocket socket, Packets packets, MemorySegment acknowledgement) {
            this.socket = socket;
            this.packets = packets;
            this.acknowledgement = acknowledgement;
        }

        void run(StreamMeter meter) throws IOException {
            int burst = 0;
            while (burst++ % CLOCK_EVERY_BURSTS != 0 || meter.running()) {
                awaitRoom();
                long bytes = packets.fill();
                if (packets.segments() == 1) {
                    socket.send(packets.staging(), bytes);
                } else {
                    socket.sendSegments(bytes, packets.packetBytes());
                }
                sent += (long) packets.segments() * packets.payloadBytes();
            }
        }

        private void awaitRoom() throws IOException {
            long since = 0;
            while (sent - lost - arrived >= WINDOW_BYTES) {
                if (socket.receive(acknowledgement, false) == 8) {
                    arrived = acknowledgement.get(JAVA_LONG, 0);
                    continue;
                }
                long now = System.nanoTime();
                since = since == 0 ? now : since;
                if (now - since > STALL_NANOS) {
                    lost = sent - arrived;
                }
                Thread.onSpinWait();
            }
        }
    }
}
