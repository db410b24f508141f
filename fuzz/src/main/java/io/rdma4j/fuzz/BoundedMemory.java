package io.rdma4j.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.stream.Stream;

/**
 * A target with one law more: what an input makes the process allocate has a bound, which no length field can lift. What
 * is above it is looked at twice, since the first time classes are loaded too.
 */
public final class BoundedMemory implements FuzzTarget {
    /** Far above what any input of some kilobytes needs, far below what a length field of 24 bits can ask for. */
    private static final long LIMIT_BYTES = 8L << 20;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final FuzzTarget target;

    /** Adds the law to a target. */
    public BoundedMemory(FuzzTarget target) {
        this.target = target;
    }

    @Override
    public void run(byte[] input) {
        if (allocatedBytes(input) > LIMIT_BYTES) {
            Law.atMost(allocatedBytes(input), LIMIT_BYTES, "bytes allocated");
        }
    }

    private long allocatedBytes(byte[] input) {
        byte[] copy = input.clone();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        target.run(copy);
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    @Override
    public Stream<byte[]> seeds() {
        return target.seeds();
    }
}
