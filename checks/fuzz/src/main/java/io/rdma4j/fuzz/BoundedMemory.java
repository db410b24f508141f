package io.rdma4j.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.stream.Stream;

/**
 * A target that also limits the memory that an input allocates, whatever its length fields contain. An input above the
 * limit is run up to four times, because the first runs may load classes, which Jazzer instruments on the same thread;
 * which run loads a class depends on other threads.
 */
public final class BoundedMemory implements FuzzTarget {
    /** Far more than an input of some kilobytes needs, and far less than a 24-bit length field can request. */
    private static final long LIMIT_BYTES = 8L << 20;

    private static final int MAX_RUNS = 4;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final FuzzTarget target;

    /** Adds the limit to a target. */
    public BoundedMemory(FuzzTarget target) {
        this.target = target;
    }

    @Override
    public void run(byte[] input) {
        long bytes = allocatedBytes(input);
        for (int runs = 1; runs < MAX_RUNS && bytes > LIMIT_BYTES; runs++) {
            bytes = allocatedBytes(input);
        }
        Invariant.atMost(bytes, LIMIT_BYTES, "bytes allocated");
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
