package io.rdma4j.bench.raw;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Round trips of messages through memory that both processes map: each side copies the message into the memory and then
 * writes its number, for which the other side polls. Parameter: {@code size}.
 */
public final class MemoryPingPong implements PairTest {
    private static final VarHandle NUMBER = JAVA_LONG.varHandle();
    private static final long FILE_BYTES = 1 << 20;

    /** The offsets of the messages of the two sides; the number comes first, and the message a cache line later. */
    private static final long REQUEST = 0;

    private static final long RESPONSE = FILE_BYTES / 2;
    private static final long MESSAGE = 64;

    /** Creates the measurement. */
    public MemoryPingPong() {}

    private static void send(MemorySegment memory, long at, MemorySegment message, long number) {
        MemorySegment.copy(message, 0, memory, at + MESSAGE, message.byteSize());
        NUMBER.setRelease(memory, at, number);
    }

    private static void receive(MemorySegment memory, long at, MemorySegment message, long number) {
        while ((long) NUMBER.getAcquire(memory, at) != number) {
            Thread.onSpinWait();
        }
        MemorySegment.copy(memory, at + MESSAGE, message, 0, message.byteSize());
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = SharedFile.create(control, arena, FILE_BYTES);
            MemorySegment message = arena.allocate(parameters.number("size", 64), 64);
            byte stamp;
            long number = 0;
            do {
                receive(memory, REQUEST, message, ++number);
                stamp = message.get(JAVA_BYTE, 0);
                send(memory, RESPONSE, message, number);
            } while (stamp != LatencyMeter.LAST);
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = SharedFile.open(control, arena, FILE_BYTES);
            MemorySegment message = arena.allocate(parameters.number("size", 64), 64);
            LatencyMeter meter = new LatencyMeter(parameters);
            byte stamp;
            long number = 0;
            do {
                stamp = meter.next();
                message.set(JAVA_BYTE, 0, stamp);
                send(memory, REQUEST, message, ++number);
                receive(memory, RESPONSE, message, number);
                meter.done();
            } while (stamp != LatencyMeter.LAST);
            meter.report(figures, 0.5);
        }
    }
}
