package io.rdma4j.bench.worker;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Memory and threads of this process. Memory is what lives on the heap, and all resident memory besides the heap, which
 * must be resident as a whole ({@code -XX:+AlwaysPreTouch}, {@code -Xms} as {@code -Xmx}) for the sum to mean something.
 *
 * @param bytes of memory, beside a constant
 * @param threads of the operating system
 */
public record Footprint(long bytes, long threads) {
    /** Collects garbage, gives freed memory back, and looks. */
    public static Footprint now() throws IOException, InterruptedException {
        for (int i = 0; i < 2; i++) {
            System.gc();
            Thread.sleep(50);
        }
        trim();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new Footprint(heap + status("RssAnon:") * 1024, status("Threads:"));
    }

    /** Bytes on the heap that the threads of this process have allocated since it began; what is dead again counts, too. */
    public static long allocatedBytes() {
        return ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getTotalThreadAllocatedBytes();
    }

    /** Has the C library give back what was freed, by compilers mostly, and what it keeps for the next that asks. */
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
