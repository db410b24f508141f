package io.rdma4j.faults.process;

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
 * What a process holds.
 *
 * @param descriptors open files and sockets, but for the files in which the process locks the ports that it uses: each of the
 *     64 of a port space is opened once, when the first port comes that belongs there, and ports are drawn by chance
 * @param threads threads, those of the Java virtual machine too
 * @param heapBytes objects that live
 * @param nativeBytes memory that Java code has outside the heap; 0 unless {@link
 *     Child.Builder#countsHoldings}
 */
public record Holdings(long descriptors, long threads, long heapBytes, long nativeBytes) {
    private static final String PORT_LOCKS = "ports-";
    private static final Pattern NATIVE = Pattern.compile("Other \\(reserved=\\d+KB, committed=(\\d+)KB\\)");
    private static final int COLLECTIONS = 3;

    /** Memory outside the heap is given back by a thread of its own, after a collection. */
    private static final Duration GIVING_BACK = Duration.ofMillis(300);

    /** Those of this process. */
    static Holdings own() throws IOException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc(); // what cleaners and soft references keep goes at a later one
            LockSupport.parkNanos(GIVING_BACK.toNanos());
        }
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new Holdings(count("fd", Holdings::isNoPortLock), count("task", _ -> true), heap, readNativeBytes());
    }

    private static long readNativeBytes() {
        try {
            Object told = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "vmNativeMemory",
                            new Object[] {new String[] {"summary"}},
                            new String[] {String[].class.getName()});
            Matcher found = NATIVE.matcher(String.valueOf(told));
            return found.find() ? Long.parseLong(found.group(1)) << 10 : 0;
        } catch (JMException e) {
            throw new IllegalStateException("the virtual machine does not tell its native memory", e);
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

    /** As what {@link #of} takes. */
    List<Long> toList() {
        return List.of(descriptors, threads, heapBytes, nativeBytes);
    }

    /** From what a child says. */
    static Holdings of(List<Long> told) {
        return new Holdings(told.get(0), told.get(1), told.get(2), told.get(3));
    }

    /** What has been added since. */
    public Holdings since(Holdings before) {
        return new Holdings(
                descriptors - before.descriptors,
                threads - before.threads,
                heapBytes - before.heapBytes,
                nativeBytes - before.nativeBytes);
    }

    /** Whether this, taken as a difference, is no descriptor, no thread and at most so much memory of each kind. */
    public boolean isNothingBut(long mostBytes) {
        return descriptors <= 0 && threads <= 0 && heapBytes <= mostBytes && nativeBytes <= mostBytes;
    }

    /** A difference, for people. */
    @Override
    public String toString() {
        return "%+d descriptors, %+d threads, heap %+d KiB, native %+d KiB"
                .formatted(descriptors, threads, heapBytes >> 10, nativeBytes >> 10);
    }
}
