package io.rdma4j.bench.worker;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The memory and threads of this process.
 *
 * <p>Memory is the live heap plus all anonymous resident memory. The whole heap must be resident
 * ({@code -XX:+AlwaysPreTouch}, {@code -Xms} equal to {@code -Xmx}), so that it adds a constant.
 *
 * @param bytes memory in bytes, plus a constant
 * @param threads number of operating system threads
 */
public record Footprint(long bytes, long threads) {
    /** Measures the footprint after a garbage collection and after returning freed native memory. */
    public static Footprint now() throws IOException, InterruptedException {
        for (int i = 0; i < 2; i++) {
            System.gc();
            Thread.sleep(50);
        }
        trim();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new Footprint(heap + status("RssAnon:") * 1024, status("Threads:"));
    }

    /** Returns the heap bytes that all threads have allocated since the process started, including garbage. */
    public static long allocatedBytes() {
        return ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getTotalThreadAllocatedBytes();
    }

    /**
     * Lets the C library return freed memory, mostly that of the compilers, which it would keep for later allocations.
     */
    private static void trim() throws IOException {
        try {
            ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "systemTrimNativeHeap",
                            new Object[0],
                            new String[0]);
        } catch (JMException e) {
            throw new IOException("this Java virtual machine cannot trim its native heap: " + e.getMessage(), e);
        }
    }

    private static long status(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .map(line ->
                        Long.parseLong(line.substring(name.length()).strip().split(" ", -1)[0]))
                .orElseThrow(() -> new IOException("/proc/self/status has no " + name));
    }
}
