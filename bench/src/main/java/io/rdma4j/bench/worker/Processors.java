package io.rdma4j.bench.worker;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Use of processors by this process. */
public final class Processors {
    private Processors() {}

    /** Processor time that this process has used, user and system, in nanoseconds. */
    public static long processCpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /**
     * Processor time that the compilers of this Java virtual machine have used, in ticks of the kernel (10 ms on most);
     * always 0 on other systems than Linux.
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

    /** User and system time of a thread if it is a compiler's: fields 14 and 15 of proc_pid_stat(5). */
    private static long compilerTicks(Path stat) {
        try {
            String line = Files.readString(stat);
            if (!line.contains("(C1 Comp") && !line.contains("(C2 Comp")) {
                return 0;
            }
            List<String> fields =
                    List.of(line.substring(line.lastIndexOf(')') + 2).split(" ", -1));
            return Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12));
        } catch (IOException gone) {
            return 0;
        }
    }
}
