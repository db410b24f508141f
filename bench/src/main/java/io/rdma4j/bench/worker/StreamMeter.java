package io.rdma4j.bench.worker;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Measures a flow that the passive side counts in bytes: throughput, and processor time and allocation of both
 * processes, between two readings. The active side asks {@link #running} once in a while, and moves data as long as it holds.
 *
 * <p>While it warms up readings are taken, too, and each is forgotten at the next: the one that counts then runs nothing for
 * the first time, and takes no branch for which compiled code would be thrown away at the moment the clock starts.
 */
public final class StreamMeter {
    private static final long PEER_COUNTS = -1;

    /** Both processes at one moment. */
    private record Reading(long cpuNanos, long allocatedBytes, long arrivedBytes, long atNanos) {}

    private final Control control;
    private final WarmUp warmUp;
    private final long measureNanos;
    private boolean measuring;
    private long lookNanos;
    private @Nullable Reading begin;
    private @Nullable Reading end;

    /** Starts the warm-up. */
    public StreamMeter(Control control, Parameters parameters) {
        this.control = control;
        warmUp = WarmUp.begin(parameters, control);
        measureNanos = parameters.measureNanos();
    }

    /** Whether to go on; what has arrived is what the passive side counts. */
    public boolean running() throws IOException {
        return running(PEER_COUNTS);
    }

    /**
     * Whether to go on.
     *
     * @param arrivedBytes what has arrived, as the active side knows
     */
    public boolean running(long arrivedBytes) throws IOException {
        return System.nanoTime() < lookNanos || look(arrivedBytes);
    }

    private boolean look(long arrivedBytes) throws IOException {
        if (measuring) {
            end = read(arrivedBytes);
            return false;
        }
        measuring = warmUp.isOver(System.nanoTime());
        Reading reading = read(arrivedBytes);
        begin = reading;
        lookNanos = reading.atNanos() + (measuring ? measureNanos : WarmUp.LOOK_NANOS);
        return true;
    }

    private Reading read(long arrivedBytes) throws IOException {
        long cpu = Processors.processCpuNanos() + control.peerCpuNanos();
        long allocated = Footprint.allocatedBytes() + control.peerAllocatedBytes();
        long arrived = count(arrivedBytes);
        return new Reading(cpu, allocated, arrived, System.nanoTime());
    }

    private long count(long arrivedBytes) throws IOException {
        return arrivedBytes == PEER_COUNTS ? control.peerCount() : arrivedBytes;
    }

    /**
     * Adds throughput, and where messages are of one size their rate.
     *
     * @param messageBytes bytes of a message
     */
    public void report(Figures figures, long messageBytes) {
        Reading first = Objects.requireNonNull(begin, "it has run");
        Reading last = Objects.requireNonNull(end, "it has run to the end");
        double bytes = last.arrivedBytes() - first.arrivedBytes();
        double nanos = last.atNanos() - first.atNanos();
        double messages = bytes / messageBytes;
        figures.add(Figures.GIGABYTES_PER_SECOND, bytes / nanos);
        figures.add(Figures.MILLIONS_PER_SECOND, messages / nanos * 1e3);
        figures.add(
                Figures.ALLOCATED_BYTES_PER_MESSAGE,
                bytes == 0 ? Double.NaN : (last.allocatedBytes() - first.allocatedBytes()) / messages);
        figures.add(
                Figures.CPU_SECONDS_PER_GIGABYTE,
                bytes == 0 ? Double.NaN : (last.cpuNanos() - first.cpuNanos()) / bytes);
    }
}
