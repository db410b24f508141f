package io.rdma4j.bench.worker;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Memory and threads of this process. Memory is what lives on the heap, and all resident memory besides the heap, which
 * must be resident as a whole ({@code -XX:+AlwaysPreTouch}, {@code -Xms} as {@code -Xmx}) for the sum to mean something.
 *
 * @param bytes of memory, beside a constant
 * @param threads of the operating system
 */
public record Footprint(long bytes, long threads) {
    /** Collects garbage, and looks. */
    public static Footprint now() throws IOException, InterruptedException {
        for (int i = 0; i < 2; i++) {
            System.gc();
            Thread.sleep(50);
        }
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new Footprint(heap + status("RssAnon:") * 1024, status("Threads:"));
    }

    /** Bytes on the heap that the threads of this process have allocated since it began; what is dead again counts, too. */
    public static long allocatedBytes() {
        return ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getTotalThreadAllocatedBytes();
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
