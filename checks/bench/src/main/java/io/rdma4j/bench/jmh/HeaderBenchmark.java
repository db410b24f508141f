package io.rdma4j.bench.jmh;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Writing and reading the headers of an RDMA WRITE, and parsing the whole packet. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class HeaderBenchmark {
    private final MemorySegment memory = Frames.newMemory(256);
    private final Packet packet = new Packet();
    private final Frame frame = Frames.write(memory, 64);
    private int psn;

    /** Writes BTH and RETH. */
    @Benchmark
    public MemorySegment writeBthAndReth() {
        Bth.write(memory, 0, Frames.RC_RDMA_WRITE_ONLY, false, 0, 0xffff, 0x1234, true, psn++);
        Reth.write(memory, Bth.LENGTH, 0x7f00_1234_0000L, 0x1234_5678, 64);
        return memory;
    }

    /** Reads the fields of BTH and RETH that a receiver needs. */
    @Benchmark
    public long readBthAndReth() {
        return Bth.opcode(memory, 0)
                + Bth.destinationQueuePair(memory, 0)
                + Bth.psn(memory, 0)
                + Reth.address(memory, Bth.LENGTH)
                + Reth.key(memory, Bth.LENGTH)
                + Reth.dmaLength(memory, Bth.LENGTH);
    }

    /** Parses a whole packet, including all length checks. */
    @Benchmark
    public Packet.Result parsePacket() {
        return packet.parse(frame);
    }
}
