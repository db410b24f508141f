package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.LONG;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.Case.Extent;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.KnownFault;
import io.rdma4j.harness.PerftestTable;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The eight tools of perftest: server and client with the same options. */
final class PerftestCases {
    /** The status of a program that SIGSEGV has ended. */
    private static final int SEGMENTATION_FAULT = 139;

    /** The number of messages is not known in advance. */
    private static final String ANY = "any";

    private static final String PLACE = "^ %s address: (LID [0-9a-fx]* QPN [0-9a-fx]* PSN [0-9a-fx]*)";

    /** C prints "inf" if it could not measure the clock of an emulated processor, and has then warned about it. */
    private static final Pattern ROW = Pattern.compile("^ [0-9]+ +[0-9]+ +([0-9]|inf)");

    /** The line about a warm-up, and warnings of C about the clock of an emulated processor, the device and the sizes. */
    private static final Pattern ORDINARY =
            Pattern.compile(": warmed up for |CPU|Correlation coefficient|Device not recognized to implement inline"
                    + "|Max msg size in UD|Changing to this MTU");

    private final Rows rows;
    private final String prefix;

    private PerftestCases(Rows rows, String prefix) {
        this.rows = rows;
        this.prefix = prefix;
    }

    static void define(InteropCases cases, Roles roles) {
        new PerftestCases(new Rows(cases, roles, 60), "perftest/").define();
    }

    static void defineByExec(InteropCases cases, Roles roles) {
        new PerftestCases(new Rows(cases, roles, 60), "exec/perftest/").defineByExec();
    }

    private void defineByExec() {
        for (String kind : List.of("send", "write", "read")) {
            String latency = "ib_" + kind + "_lat";
            String bandwidth = "ib_" + kind + "_bw";
            add(latency, kind.equals("send") ? QUICK : FULL, "100 x 2 bytes", "2", "100", "-n 100");
            add(bandwidth, kind.equals("write") ? QUICK : FULL, "100 x 64 KiB", "65536", "100", "-n 100");
            add(bandwidth + "/-R", FULL, "2 x 100 x 4 KiB", "4096", "200", "-R -n 100 -s 4096 -q 2");
        }
        add("ib_atomic_lat", QUICK, "100 fetch-and-add", "8", "100", "-n 100");
        add("ib_atomic_bw", FULL, "100 fetch-and-add", "8", "100", "-n 100");
        add("ib_send_bw/UD", FULL, "100 datagrams of 1 KiB", "1024", "100", "-n 100 -s 1024 -c UD");
        add("ib_send_bw/UC", FULL, "100 x 1 KiB", "1024", "100", "-n 100 -s 1024 -c UC");
        add("ib_send_lat/-R", QUICK, "50 x 1 KiB, by events", "1024", "50", "-R -n 50 -s 1024 -e");
        InteropCases.Body writes = measure("ib_write_bw", "4096", "100", "-n 100 -s 4096");
        rows.add(prefix + "ib_write_bw/loss", "100 x 4 KiB", FULL, 100, stage -> stage.under(Fault.loss(10), writes));
    }

    private void define() {
        for (String kind : List.of("send", "write", "read")) {
            String latency = "ib_" + kind + "_lat";
            String bandwidth = "ib_" + kind + "_bw";
            add(latency, QUICK, "100 x 2 bytes", "2", "100", "-R -n 100");
            add(latency + "/64K", FULL, "20 x 64 KiB", "65536", "20", "-R -n 20 -s 65536");
            add(bandwidth, QUICK, "300 x 2 bytes", "2", "300", "-R -n 300 -s 2");
            add(bandwidth + "/64K", FULL, "100 x 64 KiB", "65536", "100", "-R -n 100");
            add(bandwidth + "/-q-2", FULL, "2 x 100 x 4 KiB", "4096", "200", "-R -n 100 -s 4096 -q 2");
            add(bandwidth + "/-b", FULL, "100 x 4 KiB both ways", "4096", "100", "-R -n 100 -s 4096 -b");
            add(latency + "/-D-1", FULL, "one second", "2", ANY, "-R -D 1");
            add(latency + "/tcp", FULL, "50 x 2 bytes", "2", "50", "-n 50");
            add(bandwidth + "/tcp", FULL, "100 x 4 KiB", "4096", "100", "-n 100 -s 4096");
            add(bandwidth + "/-z", FULL, "100 x 4 KiB", "4096", "100", "-z -n 100 -s 4096");
        }
        rows.add(prefix + "ib_write_lat/warm-up", "100 x 2 bytes", QUICK, PerftestCases::warmUp);
        add("ib_send_lat/-a-UD", FULL, "20 x 2 to 1024 bytes", powersTo(1024), "20", "-R -a -n 20 -c UD");
        add("ib_atomic_lat", QUICK, "100 fetch-and-add", "8", "100", "-R -n 100");
        add("ib_atomic_lat/swap", FULL, "50 compare-and-swap", "8", "50", "-R -n 50 -A CMP_AND_SWAP");
        add("ib_atomic_bw", QUICK, "300 fetch-and-add", "8", "300", "-R -n 300");
        add("ib_atomic_bw/-q-2", FULL, "2 x 100", "8", "200", "-R -n 100 -q 2");
        add("ib_write_bw/-l", FULL, "200 in lists of 20", "64", "200", "-R -n 200 -s 64 -l 20");
        add("ib_write_bw/-Q", FULL, "205, one completion for 10", "64", "205", "-R -n 205 -s 64 -Q 10");
        for (String figure : List.of("lat", "bw")) {
            String send = "ib_send_" + figure;
            Extent extent = figure.equals("lat") ? QUICK : FULL;
            add(send + "/UD", extent, "100 datagrams of 1 KiB", "1024", "100", "-R -n 100 -s 1024 -c UD");
            add(send + "/UC", FULL, "100 x 1 KiB", "1024", "100", "-n 100 -s 1024 -c UC");
            add("ib_write_" + figure + "/UC", FULL, "100 x 1 KiB", "1024", "100", "-n 100 -s 1024 -c UC");
            add(send + "/-e", FULL, "50 x 1 KiB, by events", "1024", "50", "-R -n 50 -s 1024 -e");
        }
        add("ib_send_bw/UD-b", FULL, "100 datagrams both ways", "1024", "100", "-R -n 100 -s 1024 -c UD -b");
        for (String kind : List.of("send", "write", "read")) {
            add("ib_" + kind + "_bw/-D-3", FULL, "three seconds", "4096", ANY, "-R -D 3 -f 1 -s 4096");
        }
        for (String tool : List.of("ib_send_lat", "ib_write_bw")) { // an emulated processor takes its time for these
            InteropCases.Body body = measure(tool, powersTo(8 << 20), "5", "-R -a -n 5");
            rows.add(prefix + tool + "/-a", "5 x 2 bytes to 8 MiB", LONG, 100, body);
        }
    }

    private void add(String name, Extent extent, String expected, String sizes, String count, String options) {
        rows.add(prefix + name, expected, extent, measure(name.replaceFirst("/.*", ""), sizes, count, options));
    }

    private static String powersTo(int last) {
        return IntStream.iterate(2, size -> size <= last, size -> 2 * size)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(" "));
    }

    /** Returns a case of one tool; see {@link #run}. */
    static InteropCases.Body measure(String tool, String sizes, String count, String options) {
        return stage -> {
            Pair pair = run(stage, tool, sizes, count, options);
            stage.stage.remark(PerftestTable.figure(pair.client()));
        };
    }

    /** Java's client reports its warm-up. */
    private static void warmUp(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        Pair pair = run(stage.warmedUp(), "ib_write_lat", "2", "100", "-R -n 100");
        if (!stage.isC(stage.client)) {
            pair.client().requireComplains("^ib_[a-z_]+: warmed up for [0-9.]+ s ");
        }
        stage.stage.remark(PerftestTable.figure(pair.client()));
    }

    /**
     * Runs a server and its client. Both have to end with 0, without a complaint, and print the right rows and each other's queue
     * pairs.
     *
     * @param sizes the sizes of the rows, separated by blanks
     * @param count the number of messages in each row, or {@code any}
     */
    static Pair run(InteropStage stage, String tool, String sizes, String count, String options)
            throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(stage.server, Family.V4);
        String command = tool + " -F " + options + " ";
        boolean usesManager = options.matches("-[Rz]( .*)?");
        Pair pair = usesManager
                ? Pair.start(
                        stage,
                        command + "--source_ip=" + address,
                        Pair.at(stage, PingpongCases.PORT, address),
                        command + address)
                : Pair.start(
                        stage,
                        command + place(stage, stage.server),
                        PingpongCases.tcp(stage),
                        command + place(stage, stage.client) + " " + address);
        if (usesManager && stage.isC(stage.client) && pair.client().awaitEnd() == SEGMENTATION_FAULT) {
            throw new KnownFault("perftest was rejected, before the server listened, and crashed");
        }
        for (RunningProcess each : pair.both()) {
            each.requireSuccess();
            Stage.require(
                    each.err()
                            .lines()
                            .allMatch(line ->
                                    line.isEmpty() || ORDINARY.matcher(line).find()),
                    "the " + each.label() + " complains");
        }
        requireRows(pair.client(), sizes, count);
        requireRows(pair.server(), sizesOfServer(tool, sizes, options), count);
        PingpongCases.requireAgreement(pair, PLACE);
        return pair;
    }

    /** Java's tools select the GID of the given address on the software device, and all others that of the IPv4 address. */
    private static String place(InteropStage stage, Side side) throws CaseFailure, IOException, InterruptedException {
        if (side == Side.EXEC) {
            return "-d " + InteropStage.EXEC_DEVICE + " -x " + stage.gidIndex(side, Family.V4);
        }
        return stage.usesKernel(side) ? "-d " + stage.device() : "";
    }

    /** A server prints nothing about READ and atomic latencies, and only the last size of a rate, except for SEND. */
    private static String sizesOfServer(String tool, String sizes, String options) {
        return switch (tool) {
            case "ib_read_lat", "ib_atomic_lat" -> "";
            case "ib_send_bw", "ib_send_lat", "ib_write_lat" -> sizes;
            default -> options.matches("(.* )?-b( .*)?") ? sizes : sizes.replaceFirst(".* ", "");
        };
    }

    private static void requireRows(RunningProcess process, String sizes, String count) throws CaseFailure {
        List<String> expected = words(sizes).map(size -> size + " " + count).toList();
        List<String> found = process.out()
                .lines()
                .filter(ROW.asPredicate())
                .map(line -> line.strip().split(" +", -1))
                .map(columns -> columns[0] + " " + (count.equals(ANY) && !columns[1].equals("0") ? ANY : columns[1]))
                .toList();
        Stage.require(
                found.equals(expected),
                "the " + process.label() + " does not have the rows " + expected + " but " + found);
    }

    private static Stream<String> words(String text) {
        return Stream.of(text.split(" ", -1)).filter(word -> !word.isEmpty());
    }
}
