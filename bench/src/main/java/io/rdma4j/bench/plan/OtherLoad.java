package io.rdma4j.bench.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How much of the machine's processors is used by others than this process and those that it started and that have ended,
 * between two moments. Linux only; elsewhere it is always 0.
 */
public final class OtherLoad {
    /** Up to this share a machine is called quiet. */
    public static final double QUIET = 0.05;

    private static final int LOOK_MILLIS = 300;

    /** All in ticks of the kernel. */
    private record Ticks(long all, long busy, long own) {}

    private Ticks begin = now();

    /** Begins now. */
    public OtherLoad() {}

    /** The share since the beginning, or since this was called last: 0 to 1. */
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
     * @param seconds no longer than this
     */
    static void awaitQuiet(int seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        OtherLoad load = new OtherLoad();
        do {
            Thread.sleep(LOOK_MILLIS);
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

    /** user, nice, system, idle, iowait, irq, softirq, steal. */
    private static List<String> processors() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/stat")).getFirst();
        return List.of(line.substring(line.indexOf(' ')).strip().split(" +"));
    }

    /** utime, stime, and those of children that have ended: fields 14 to 17 of proc_pid_stat(5). */
    private static List<String> ownFields() throws IOException {
        String line = Files.readString(Path.of("/proc/self/stat"));
        return List.of(line.substring(line.lastIndexOf(')') + 2).split(" ")).subList(11, 15);
    }
}
