package io.rdma4j.bench.worker;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The processor usage of this process. */
public final class Processors {
    private Processors() {}

    /** Returns the user and system time of this process in nanoseconds. */
    public static long processCpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /**
     * Returns the processor time of the compilers of this Java virtual machine, in kernel ticks (mostly 10 ms).
     *
     * <p>The result is always 0 on systems other than Linux.
     */
    public static long compilerTicks() {
        long ticks = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                ticks += compilerTicks(thread.resolve("stat"));
            }
        } catch (IOException | DirectoryIteratorException e) {
            return ticks;
        }
        return ticks;
    }

    /**
     * Returns the user and system time of a compiler thread, fields 14 and 15 of proc_pid_stat(5), or 0 for other
     * threads.
     */
    private static long compilerTicks(Path stat) {
        try {
            String line = Files.readString(stat);
            if (!line.contains("(C1 Comp") && !line.contains("(C2 Comp")) {
                return 0;
            }
            List<String> fields =
                    List.of(line.substring(line.lastIndexOf(')') + 2).split(" ", -1));
            return Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12));
        } catch (IOException exited) {
            return 0;
        }
    }
}
