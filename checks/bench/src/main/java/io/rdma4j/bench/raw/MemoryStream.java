package io.rdma4j.bench.raw;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * A stream of messages in one direction through a ring in memory that both processes map: one copy into the ring and one out of it.
 * Parameter: {@code size}, at most a quarter of 1 MiB.
 */
public final class MemoryStream implements PairTest {
    private static final VarHandle COUNT = JAVA_LONG.varHandle();
    private static final int RING_BYTES = 1 << 20;

    /** The offsets of the number of messages written, of the number of messages read, and of the ring. */
    private static final long WRITTEN = 0;

    private static final long READ = 128;
    private static final long RING = 4096;
    private static final int CLOCK_EVERY_MESSAGES = 16;

    /** The messages, which are in separate memory, like messages of a program. */
    private static final int MESSAGES = 16;

    /** Creates the measurement. */
    public MemoryStream() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        int size = parameters.number("size", 64 << 10);
        int slots = RING_BYTES / size;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = SharedFile.create(control, arena, RING + RING_BYTES);
            MemorySegment messages = arena.allocate((long) MESSAGES * size, 64);
            control.serveQueries();
            long read = 0;
            while (!control.stopped()) {
                if ((long) COUNT.getAcquire(memory, WRITTEN) == read) {
                    Thread.onSpinWait();
                    continue;
                }
                long from = RING + read % slots * size;
                MemorySegment.copy(memory, from, messages, read % MESSAGES * size, size);
                read++;
                COUNT.setRelease(memory, READ, read);
                control.count(read * size);
            }
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int size = parameters.number("size", 64 << 10);
        int slots = RING_BYTES / size;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = SharedFile.open(control, arena, RING + RING_BYTES);
            MemorySegment messages = arena.allocate((long) MESSAGES * size, 64);
            StreamMeter meter = new StreamMeter(control, parameters);
            long written = 0;
            while (written % CLOCK_EVERY_MESSAGES != 0 || meter.running()) {
                while (written - (long) COUNT.getAcquire(memory, READ) >= slots) {
                    Thread.onSpinWait();
                }
                MemorySegment.copy(messages, written % MESSAGES * size, memory, RING + written % slots * size, size);
                written++;
                COUNT.setRelease(memory, WRITTEN, written);
            }
            control.stopPeer();
            meter.report(figures, size);
        }
    }
}
