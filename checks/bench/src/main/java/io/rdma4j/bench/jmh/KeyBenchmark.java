package io.rdma4j.bench.jmh;

import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Looking up registered memory by the key in a packet, and checking range and rights. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class KeyBenchmark {
    private static final int ACCESS = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit();
    private static final int LOOKUPS = 1 << 10;

    /** Number of registered regions. */
    @Param({"1", "1000", "100000"})
    public int regions;

    private final int[] keys = new int[LOOKUPS];
    private final Random random = new Random(7);
    private final MemoryTable table = new MemoryTable(random::nextInt);
    private int next;

    /** Registers memory and chooses keys. */
    @Setup
    public void setUp() {
        MemorySegment memory = Frames.newMemory(4096);
        int[] all = new int[regions];
        for (int i = 0; i < regions; i++) {
            all[i] = table.register(memory, memory.address(), ACCESS, 1).key();
        }
        for (int i = 0; i < LOOKUPS; i++) {
            keys[i] = all[random.nextInt(regions)];
        }
    }

    /** Looks up a region and checks range and rights. */
    @Benchmark
    public boolean findAndCheck() {
        MemoryRegion region = table.find(keys[next++ & (LOOKUPS - 1)]);
        return region != null && region.allows(ACCESS) && region.containsAddress(region.address() + 64, 64);
    }
}
