package io.rdma4j.acceptance.process;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The resources that a process uses.
 *
 * @param descriptors open files and sockets, without the lock files of ports: each of the 64 lock files of a port space
 *     is opened when the first port of its group is used, and ports are chosen at random
 * @param threads threads, including those of the Java virtual machine
 * @param heapBytes size of live objects
 * @param nativeBytes memory that Java code has allocated outside the heap; 0 unless {@link
 *     Child.Builder#trackNativeMemory} is set
 */
public record ResourceUsage(long descriptors, long threads, long heapBytes, long nativeBytes) {
    /** The beginning of the names of the lock files of ports. */
    static final String PORT_LOCKS = "ports-";

    private static final Pattern NATIVE = Pattern.compile("Other \\(reserved=\\d+KB, committed=(\\d+)KB\\)");
    private static final int COLLECTIONS = 3;

    /** A separate thread frees memory outside the heap after a collection. */
    private static final Duration RELEASE_TIME = Duration.ofMillis(300);

    /** Returns the resource usage of this process. */
    static ResourceUsage ofThisProcess() throws IOException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc(); // objects referenced by cleaners and soft references are freed by a later collection
            LockSupport.parkNanos(RELEASE_TIME.toNanos());
        }
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new ResourceUsage(
                count("fd", ResourceUsage::isNoPortLock), count("task", _ -> true), heap, readNativeBytes());
    }

    private static long readNativeBytes() {
        try {
            Object values = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "vmNativeMemory",
                            new Object[] {new String[] {"summary"}},
                            new String[] {String[].class.getName()});
            Matcher matcher = NATIVE.matcher(String.valueOf(values));
            return matcher.find() ? Long.parseLong(matcher.group(1)) << 10 : 0;
        } catch (JMException e) {
            throw new IllegalStateException("the virtual machine does not report its native memory", e);
        }
    }

    private static long count(String folder, Predicate<Path> counts) throws IOException {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self", folder))) {
            return entries.filter(counts).count();
        }
    }

    private static boolean isNoPortLock(Path descriptor) {
        try {
            Path name = Files.readSymbolicLink(descriptor).getFileName();
            return name == null || !name.toString().startsWith(PORT_LOCKS);
        } catch (IOException closed) {
            return false;
        }
    }

    /** Returns a list that {@link #of} accepts. */
    List<Long> toList() {
        return List.of(descriptors, threads, heapBytes, nativeBytes);
    }

    /** Returns the usage that a child reported. */
    static ResourceUsage of(List<Long> values) {
        return new ResourceUsage(values.get(0), values.get(1), values.get(2), values.get(3));
    }

    /** Returns the increase since {@code before}. */
    public ResourceUsage since(ResourceUsage before) {
        return new ResourceUsage(
                descriptors - before.descriptors,
                threads - before.threads,
                heapBytes - before.heapBytes,
                nativeBytes - before.nativeBytes);
    }

    /**
     * Returns whether this difference has no additional descriptor or thread and at most {@code maxBytes} more of each
     * kind of memory.
     */
    public boolean isWithin(long maxBytes) {
        return descriptors <= 0 && threads <= 0 && heapBytes <= maxBytes && nativeBytes <= maxBytes;
    }

    /** Formats a difference. */
    @Override
    public String toString() {
        return "%+d descriptors, %+d threads, heap %+d KiB, native %+d KiB"
                .formatted(descriptors, threads, heapBytes >> 10, nativeBytes >> 10);
    }
}
