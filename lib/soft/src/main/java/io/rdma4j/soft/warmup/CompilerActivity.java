package io.rdma4j.soft.warmup;

import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.soft.host.StackClock;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The activity of the just-in-time compilers of this process. Known on Linux only; elsewhere the compilers are always
 * considered busy. Not thread safe.
 */
public final class CompilerActivity {
    private static final Path THREADS = Path.of("/proc/self/task");

    /** The time that the compilers must be idle before all of the code in use is considered compiled. */
    private static final long QUIET_NANOS = 150_000_000;

    /** The share of a processor below which the compilers are considered idle. */
    private static final double IDLE_LOAD = 0.1;

    private long usedNanos;
    private long checkedAtNanos;
    private long busyAtNanos;

    /** Creates an observer that considers the compilers busy now. */
    public CompilerActivity() {
        usedNanos = processorNanos();
        checkedAtNanos = StackClock.SYSTEM.nanoTime();
        busyAtNanos = checkedAtNanos;
    }

    /** Returns whether the compilers have worked since the last call. */
    public boolean isBusy() {
        long now = StackClock.SYSTEM.nanoTime();
        long used = processorNanos();
        boolean isBusy = used < 0 || used - usedNanos > IDLE_LOAD * (now - checkedAtNanos);
        if (isBusy) {
            busyAtNanos = now;
        }
        usedNanos = used;
        checkedAtNanos = now;
        return isBusy;
    }

    /** Returns whether the compilers have been idle for long, according to the calls of {@link #isBusy}. */
    public boolean isQuiet() {
        return StackClock.SYSTEM.nanoTime() - busyAtNanos > QUIET_NANOS;
    }

    /** Returns the processor time that the threads of the compilers have used, or -1 if it is not known. */
    private static long processorNanos() {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                if (isCompiler(thread)) {
                    String line = SystemFile.read(thread.resolve("schedstat"));
                    sum += Long.parseLong(line, 0, line.indexOf(' '), 10);
                }
            }
            return sum;
        } catch (IOException | IllegalArgumentException unknown) {
            return -1;
        }
    }

    private static boolean isCompiler(Path thread) throws IOException {
        String name = SystemFile.read(thread.resolve("comm"));
        return name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler");
    }
}
