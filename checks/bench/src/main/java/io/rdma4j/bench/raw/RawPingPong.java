package io.rdma4j.bench.raw;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WorkerAddresses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * Round trips of UDP datagrams.
 *
 * <p>Parameters: {@code size}, {@code crc} (a CRC-32 over each packet is written, and compared by the receiver),
 * {@code wait} ({@code poll} or {@code block}).
 */
public final class RawPingPong implements PairTest {
    private static final int CRC_BYTES = 4;

    /** Creates the measurement. */
    public RawPingPong() {}

    /** One end: its socket and buffers, and the processing of a packet. */
    private static final class End {
        private final UdpSocket socket;
        private final MemorySegment out;
        private final MemorySegment in;
        private final ByteBuffer outBytes;
        private final ByteBuffer inBytes;
        private final CRC32 checksum = new CRC32();
        private final boolean crc;
        private final boolean block;
        private final int size;

        End(UdpSocket socket, Arena arena, Parameters parameters) {
            this.socket = socket;
            size = parameters.number("size", 64);
            crc = parameters.flag("crc");
            block = parameters.text("wait", "poll").equals("block");
            out = arena.allocate(size);
            in = arena.allocate(size);
            outBytes = out.asByteBuffer();
            inBytes = in.asByteBuffer();
        }

        void send(byte stamp) throws IOException {
            out.set(JAVA_BYTE, 0, stamp);
            if (crc) {
                out.set(JAVA_INT_UNALIGNED, size - CRC_BYTES, checksum(outBytes));
            }
            socket.send(out, size);
        }

        byte receive() throws IOException {
            while (socket.receive(in, block) < 0) {
                Thread.onSpinWait();
            }
            if (crc && in.get(JAVA_INT_UNALIGNED, size - CRC_BYTES) != checksum(inBytes)) {
                throw new IOException("a packet was corrupted");
            }
            return in.get(JAVA_BYTE, 0);
        }

        private int checksum(ByteBuffer bytes) {
            checksum.reset();
            bytes.limit(size - CRC_BYTES).position(0);
            checksum.update(bytes);
            return (int) checksum.getValue();
        }
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (UdpSocket socket = new UdpSocket(WorkerAddresses.SERVER, 0);
                Arena arena = Arena.ofShared()) {
            control.send(socket.port());
            socket.peer(WorkerAddresses.CLIENT, (int) control.receive());
            End end = new End(socket, arena, parameters);
            control.awaitPeer();
            byte stamp;
            do {
                stamp = end.receive();
                end.send(stamp);
            } while (stamp != LatencyMeter.LAST);
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (UdpSocket socket = new UdpSocket(WorkerAddresses.CLIENT, 0);
                Arena arena = Arena.ofShared()) {
            socket.peer(WorkerAddresses.SERVER, (int) control.receive());
            control.send(socket.port());
            End end = new End(socket, arena, parameters);
            LatencyMeter meter = new LatencyMeter(parameters);
            control.awaitPeer();
            byte stamp;
            do {
                stamp = meter.next();
                end.send(stamp);
                if (end.receive() != stamp) {
                    throw new IOException("the reply does not match the request");
                }
                meter.done();
            } while (stamp != LatencyMeter.LAST);
            meter.report(figures, 0.5);
            figures.add(Figures.ROUND_TRIP_P50_MICROS, meter.times().getValueAtPercentile(50) / 1e3);
            figures.add(Figures.ROUND_TRIP_P99_MICROS, meter.times().getValueAtPercentile(99) / 1e3);
        }
    }
}
