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

/** The invariant CRC of an RDMA WRITE packet, as the sender computes it and the receiver verifies it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class IcrcBenchmark {
    /** Payload size in bytes. */
    @Param({"64", "1024", "4096"})
    public int payload;

    private final Icrc icrc = new Icrc();
    private Frame frame = new Frame();
    private Frame received = new Frame();

    /** Creates a frame to seal, and a frame as received, whose IPv4 identification is unknown. */
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

    /** Computes and writes the ICRC. */
    @Benchmark
    public Frame seal() {
        icrc.seal(frame);
        return frame;
    }

    /** Verifies a frame with unknown IPv4 identification, like every frame received over IPv4. */
    @Benchmark
    public boolean verify() {
        return icrc.verify(received);
    }
}
