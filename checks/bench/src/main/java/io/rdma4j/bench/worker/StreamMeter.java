package io.rdma4j.bench.worker;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Measures throughput, processor time and allocation of both processes, between two readings.
 *
 * <p>The active side calls {@link #running} periodically, and transfers data as long as it returns true. The passive
 * side counts the bytes, or the active side, which passes them to {@link #running(long)}.
 *
 * <p>Readings are also taken during the warm-up, and each replaces the previous one. The reading at the start of the
 * measurement therefore runs no code for the first time, and takes no new branch, which would invalidate compiled code
 * when the clock starts.
 */
public final class StreamMeter {
    private static final long PEER_COUNTS = -1;

    /** The state of both processes at one moment. */
    private record Reading(long cpuNanos, long allocatedBytes, long arrivedBytes, long atNanos) {}

    private final Control control;
    private final WarmUp warmUp;
    private final @Nullable FirstSeconds firstSeconds;
    private final long measureNanos;
    private boolean measuring;
    private long pollAtNanos;
    private @Nullable Reading begin;
    private @Nullable Reading end;

    /** Starts the warm-up, or the first of the parameter {@code firstSeconds}. */
    public StreamMeter(Control control, Parameters parameters) {
        this.control = control;
        warmUp = WarmUp.begin(parameters, control);
        measureNanos = parameters.measureNanos();
        firstSeconds = FirstSeconds.of(parameters);
    }

    /** Returns whether to continue. The passive side counts the bytes that arrive. */
    public boolean running() throws IOException {
        return running(PEER_COUNTS);
    }

    /**
     * Returns whether to continue.
     *
     * @param arrivedBytes the bytes that have arrived, as counted by the active side
     */
    public boolean running(long arrivedBytes) throws IOException {
        return System.nanoTime() < pollAtNanos || poll(arrivedBytes);
    }

    private boolean poll(long arrivedBytes) throws IOException {
        if (firstSeconds != null) {
            return pollSeconds(firstSeconds, arrivedBytes);
        }
        if (measuring) {
            end = read(arrivedBytes);
            return false;
        }
        measuring = warmUp.isOver(System.nanoTime());
        Reading reading = read(arrivedBytes);
        begin = reading;
        pollAtNanos = reading.atNanos() + (measuring ? measureNanos : WarmUp.POLL_NANOS);
        return true;
    }

    private boolean pollSeconds(FirstSeconds seconds, long arrivedBytes) throws IOException {
        if (System.nanoTime() >= seconds.endNanos()) {
            double bytes = count(arrivedBytes);
            if (!seconds.end(System.nanoTime(), bytes, Figures.GIGABYTES_PER_SECOND, bytesPerNano -> bytesPerNano)) {
                return false;
            }
        }
        pollAtNanos = seconds.endNanos();
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
     * Adds the figures, including throughput and the rate of messages.
     *
     * @param messageBytes size of a message
     */
    public void report(Figures figures, long messageBytes) {
        if (firstSeconds != null) {
            firstSeconds.report(figures, 1);
            return;
        }
        Reading first = Objects.requireNonNull(begin, "the measurement has not started");
        Reading last = Objects.requireNonNull(end, "the measurement has not ended");
        double bytes = last.arrivedBytes() - first.arrivedBytes();
        double nanos = last.atNanos() - first.atNanos();
        double messages = bytes / messageBytes;
        warmUp.report(figures);
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
