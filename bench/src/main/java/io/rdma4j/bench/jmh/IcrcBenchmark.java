package io.rdma4j.bench.jmh;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
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

/** The invariant CRC of a packet of an RDMA WRITE: what a sender adds, what a receiver checks. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class IcrcBenchmark {
    /** Bytes of payload. */
    @Param({"64", "1024", "4096"})
    public int payload;

    private final Icrc icrc = new Icrc();
    private Frame frame = new Frame();
    private Frame received = new Frame();

    /** Makes a frame to seal, and one to check as it is received: without the IPv4 identification. */
    @Setup
    public void setUp() {
        frame = Frames.write(Frames.newMemory(payload + 64), payload);
        icrc.seal(frame);
        received = new Frame();
        received.set(frame);
        received.identification = Frame.IDENTIFICATION_UNKNOWN;
        if (!icrc.verify(received)) {
            throw new IllegalStateException("the frame does not verify");
        }
    }

    /** Computes and writes it. */
    @Benchmark
    public Frame seal() {
        icrc.seal(frame);
        return frame;
    }

    /** Checks one whose IPv4 identification is not known, as every frame over IPv4 is checked. */
    @Benchmark
    public boolean verify() {
        return icrc.verify(received);
    }
}
