package io.rdma4j.bench.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures the share of the machine's processors that other processes use.
 *
 * <p>This process and its terminated children are excluded. The measurement works on Linux only; elsewhere the share is
 * always 0.
 */
public final class OtherLoad {
    /** The maximum share at which the machine is treated as quiet. */
    public static final double QUIET = 0.05;

    private static final int POLL_MILLIS = 300;

    /** Processor times in kernel ticks. */
    private record Ticks(long all, long busy, long own) {}

    private Ticks begin = now();

    /** Starts measuring. */
    public OtherLoad() {}

    /** Returns the share since the creation or the last call: 0 to 1. */
    public double share() {
        Ticks end = now();
        long all = end.all - begin.all;
        long others = end.busy - begin.busy - (end.own - begin.own);
        begin = end;
        return all <= 0 ? 0 : Math.clamp((double) others / all, 0, 1);
    }

    /**
     * Waits until the machine is quiet.
     *
     * @param seconds maximum time to wait
     */
    static void awaitQuiet(int seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        OtherLoad load = new OtherLoad();
        do {
            Thread.sleep(POLL_MILLIS);
        } while (load.share() > QUIET && System.nanoTime() < deadline);
    }

    private static Ticks now() {
        try {
            List<String> machine = processors();
            long all = sum(machine, 0, 8);
            return new Ticks(all, all - sum(machine, 3, 5), sum(ownFields(), 0, 4));
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            return new Ticks(0, 0, 0);
        }
    }

    private static long sum(List<String> numbers, int from, int to) {
        return numbers.subList(from, to).stream().mapToLong(Long::parseLong).sum();
    }

    /** Returns the fields user, nice, system, idle, iowait, irq, softirq and steal. */
    private static List<String> processors() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/stat")).getFirst();
        return List.of(line.substring(line.indexOf(' ')).strip().split(" +"));
    }

    /** Returns utime, stime, cutime and cstime: fields 14 to 17 of proc_pid_stat(5). */
    private static List<String> ownFields() throws IOException {
        String line = Files.readString(Path.of("/proc/self/stat"));
        return List.of(line.substring(line.lastIndexOf(')') + 2).split(" ")).subList(11, 15);
    }
}
