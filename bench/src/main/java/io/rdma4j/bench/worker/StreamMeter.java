package io.rdma4j.bench.worker;

import java.io.IOException;

/**
 * Measures a flow that the passive side counts in bytes: throughput, and processor time and allocation of both
 * processes, between two moments. The active side asks {@link #running} once in a while, and moves data as long as it holds.
 */
public final class StreamMeter {
    private static final long PEER_COUNTS = -1;

    private final Control control;
    private final WarmUp warmUp;
    private final long measureNanos;
    private boolean measuring;
    private long beganNanos;
    private long beganCount;
    private long beganCpu;
    private long beganAllocated;
    private long endedNanos;
    private long endedCount;
    private long endedCpu;
    private long endedAllocated;

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
        long now = System.nanoTime();
        if (!measuring) {
            if (warmUp.isOver(now)) {
                measuring = true;
                beganCpu = cpu();
                beganAllocated = allocated();
                beganCount = count(arrivedBytes);
                beganNanos = System.nanoTime();
            }
            return true;
        }
        if (now - beganNanos < measureNanos) {
            return true;
        }
        endedNanos = System.nanoTime();
        endedCount = count(arrivedBytes);
        endedAllocated = allocated();
        endedCpu = cpu();
        return false;
    }

    private long count(long arrivedBytes) throws IOException {
        return arrivedBytes == PEER_COUNTS ? control.peerCount() : arrivedBytes;
    }

    private long cpu() throws IOException {
        return Processors.processCpuNanos() + control.peerCpuNanos();
    }

    private long allocated() throws IOException {
        return Footprint.allocatedBytes() + control.peerAllocatedBytes();
    }

    /**
     * Adds throughput, and where messages are of one size their rate.
     *
     * @param messageBytes bytes of a message
     */
    public void report(Figures figures, long messageBytes) {
        double bytes = endedCount - beganCount;
        double nanos = endedNanos - beganNanos;
        figures.add(Figures.GIGABYTES_PER_SECOND, bytes / nanos);
        figures.add(Figures.MILLIONS_PER_SECOND, bytes / messageBytes / nanos * 1e3);
        figures.add(
                Figures.ALLOCATED_BYTES_PER_MESSAGE,
                bytes == 0 ? Double.NaN : (endedAllocated - beganAllocated) * messageBytes / bytes);
        figures.add(Figures.CPU_SECONDS_PER_GIGABYTE, bytes == 0 ? Double.NaN : (endedCpu - beganCpu) / bytes);
    }
}
