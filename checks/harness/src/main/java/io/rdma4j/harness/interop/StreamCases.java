package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.LONG;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.LO6;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** rstream and riostream: server and client with the same options. */
final class StreamCases {
    private static final String HEADER = "name bytes xfers iters total time Gb/sec usec/xfer";

    /** The five columns of a row, and its three figures. */
    private static final Pattern ROW =
            Pattern.compile("^(.{42}) *[0-9]+\\.[0-9]{2}s +[0-9]+\\.[0-9]{2} +[0-9]+\\.[0-9]{2}$");

    private static final List<String> SERIES = List.of(
            "64_lat 64 1 100k 12m",
            "4k_lat 4k 1 10k 78m",
            "64k_lat 64k 1 1k 125m",
            "1m_lat 1m 1 100 200m",
            "64_bw 64 100k 1 12m",
            "4k_bw 4k 10k 1 78m",
            "64k_bw 64k 1k 1 125m",
            "1m_bw 1m 100 1 200m");

    private StreamCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 60);
        for (Family family : List.of(V4, V6, LL)) {
            var extent = family == V4 ? QUICK : FULL;
            rows.add("rstream/" + family, "100 x 1000 bytes", extent, small("rstream", family, "-T v"));
        }
        defineSizes(rows);
        rows.add("rstream/-I", "300 round trips", rstream(V4, "custom 64 1 300 37k", "-S 64 -C 1 -I 300 -T v"));
        rows.add("rstream/-T-b", "blocking", middle("rstream", V4, "-T b -T v"));
        rows.add("rstream/-T-a", "poll", middle("rstream", V4, "-T a -T v"));
        rows.add("rstream/-T-ab", "poll, blocking", middle("rstream", V6, "-T a -T b -T v"));
        rows.add("rstream/-T-n", "not blocking", middle("rstream", V4, "-T n -T v"));
        rows.add("rstream/-T-r", "resolved", small("rstream", V4, "-T r"));
        rows.add("rstream/-B", "small buffers", middle("rstream", V4, "-B 5000 -T v"));
        rows.add("riostream/v4", "100 x 1000 bytes", QUICK, small("riostream", V4, "-T v"));
        rows.add("riostream/v6", "100 round trips", riostream(V6, "custom 64 1 100 12k", "-S 64 -C 1 -I 100 -T v"));
        rows.add("riostream/-S-1m", "3 x 1 MiB", riostream(V4, "custom 1m 3 1 6m", "-S 1048576 -C 3 -T v"));
        rows.add("riostream/-T-a", "poll", middle("riostream", V4, "-T a"));
        rows.add("riostream/-T-ab", "poll, blocking", middle("riostream", V4, "-T a -T b -T v"));
        rows.add("riostream/-T-b", "blocking", middle("riostream", LL, "-T b"));
        rows.add("rstream/-T-s", "sockets of the system", small("rstream", V4, "-T s -T v"));
        rows.add("rstream/-T-f", "fork", small("rstream", V4, "-T f -T v"));
        rows.add("rstream/-k", "keep-alive", small("rstream", V4, "-k 1 -T v"));
        rows.add("rstream/-p", "another port", small("rstream", V4, "-p 7999 -T v"));
        CopyCases.define(cases, roles);
        DatagramCases.define(cases, roles);
        rows.add("rstream/series", "8 rows", LONG, 900, stream("rstream", V4, SERIES, ""));
        rows.add("rstream/-S-all", "66 rows", LONG, 5400, stream("rstream", V4, allSizes(), "-S all"));
    }

    private static void defineSizes(Rows rows) {
        for (String row : List.of(
                "16 16 200 1 6.2k",
                "64 64 200 1 25k",
                "1000 1000 200 1 390k",
                "4096 4k 100 1 800k",
                "65536 64k 20 1 2.5m",
                "1048576 1m 3 1 6m")) {
            String size = row.substring(0, row.indexOf(' '));
            String text = row.substring(size.length() + 1);
            String options = "-S " + size + " -C " + text.split(" ", -1)[1] + " -T v";
            rows.add(
                    "rstream/-S-" + size,
                    text,
                    size.equals("1048576") ? QUICK : FULL,
                    rstream(V4, "custom " + text, options));
        }
    }

    /** Between processes of one host, and between two hosts that both run Java. */
    static void defineOnHosts(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 30);
        for (Family family : List.of(LO4, V4, LO6, V6, LL)) {
            var extent = family == V4 ? QUICK : FULL;
            for (String tool : List.of("rstream", "riostream")) {
                List<String> row = List.of("custom 19k 100 1 3.8m");
                InteropCases.Body body = stream(tool, family, row, "-S 20000 -C 100 -T v");
                near.add("host/" + tool + "/" + family, "100 x 20000 bytes", extent, body);
            }
        }
        InteropCases.Body bulk = rstream(V4, "custom 64k 1k 1 125m", "-S 65536 -C 1000 -T b");
        cases.add("host/rstream/far-v4", Roles.FAR_SERVER, "1000 x 64 KiB", QUICK, 60, bulk);
        CopyCases.defineOnHosts(cases);
        near.add("host/rstream/series", "8 rows", LONG, 300, stream("rstream", LO4, SERIES, ""));
    }

    /** A hundred transfers of 1000 bytes each way. */
    static InteropCases.Body small(String tool, Family family, String options) {
        return stream(tool, family, List.of("custom 1000 100 1 195k"), "-C 100 " + options);
    }

    /** Twice fifty transfers of 20000 bytes each way, more than fits into the buffers. */
    static InteropCases.Body middle(String tool, Family family, String options) {
        return stream(tool, family, List.of("custom 19k 50 2 3.8m"), "-S 20000 -C 50 -I 2 " + options);
    }

    private static InteropCases.Body rstream(Family family, String row, String options) {
        return stream("rstream", family, List.of(row), options);
    }

    private static InteropCases.Body riostream(Family family, String row, String options) {
        return stream("riostream", family, List.of(row), options);
    }

    /** Both sides have to end with 0, and to print the header and exactly these rows, without their figures. */
    static InteropCases.Body stream(String tool, Family family, List<String> rows, String options) {
        List<String> lines = new ArrayList<>(List.of(HEADER));
        lines.addAll(rows);
        return stage -> {
            Pair pair = Pair.start(
                    stage,
                    tool + " -b " + stage.address(stage.server, family) + " " + options,
                    Pair.printing(stage, "^name "),
                    tool + " -s " + stage.serverAddress(family) + " " + options);
            for (RunningProcess each : pair.both()) {
                each.requireSuccess();
                Stage.require(table(each).equals(lines), each.label() + ".out is not what it must be");
                InteropStage.requireQuiet(each);
            }
            String[] last =
                    pair.client().out().lines().toList().getLast().strip().split(" +", -1);
            stage.stage.remark(last[0] + " " + last[last.length - 2] + " Gb/s " + last[last.length - 1] + " us");
        };
    }

    private static List<String> table(RunningProcess process) {
        return process.out()
                .lines()
                .filter(line -> !line.matches("Keepalive: ON|  time: [0-9]+"))
                .map(line ->
                        ROW.matcher(line).replaceFirst("$1").stripTrailing().replaceAll(" +", " "))
                .toList();
    }

    /** Returns the rows of -S all: 64 bytes, powers of two and 1.5 times powers of two up to 6 MiB. */
    private static List<String> allSizes() {
        List<Integer> sizes = new ArrayList<>(List.of(64));
        for (int size = 128; size <= 1 << 22; size *= 2) {
            sizes.add(size);
            sizes.add(size + size / 2);
        }
        List<String> rows = new ArrayList<>();
        for (String kind : List.of("lat", "bw")) {
            for (int size : sizes) {
                String count = size >= 1 << 20 ? "100" : size >= 1 << 16 ? "1k" : size >= 1 << 10 ? "10k" : "100k";
                String transfers = kind.equals("lat") ? "1 " + count : count + " 1";
                long total = 2L * size * Long.parseLong(count.replace("k", "000"));
                rows.add("%1$s_%2$s %1$s %3$s %4$s".formatted(text(size), kind, transfers, text(total)));
            }
        }
        return rows;
    }

    /** Returns a number of bytes as the tools print it. */
    private static String text(long bytes) {
        int shift = bytes >= 1 << 30 ? 30 : bytes >= 1 << 20 ? 20 : bytes >= 1 << 10 ? 10 : 0;
        long whole = bytes >> shift;
        long tenth = (bytes - (whole << shift)) * 10 >> shift;
        String unit = Map.of(0, "", 10, "k", 20, "m", 30, "g").getOrDefault(shift, "");
        return whole + (whole < 10 && tenth != 0 ? "." + tenth : "") + unit;
    }
}
