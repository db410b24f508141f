package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.PerftestTable;
import io.rdma4j.harness.exec.Pair.RetriedFault;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The perftest programs. */
final class PerftestCases {
    static final int PORT = 18515;

    /**
     * perftest calibrates the processor's counter against the clock before it measures, and prints inf for every time if a busy
     * machine disturbs that.
     */
    private static final String CLOCK = "^ *Correlation coefficient";

    /** With -R, a client connects before a server listens on a busy machine, and perftest crashes when it is rejected. */
    private static final String REJECTED = "Failed to handle RDMA CM event";

    private static final RetriedFault NO_FREQUENCY = new RetriedFault(
            CLOCK + "|" + REJECTED,
            "perftest could not measure the frequency of the processor, or connected before its server listened");

    /** perftest waits indefinitely when a message of an unreliable service is lost. */
    private static final RetriedFault LOST_MESSAGE =
            new RetriedFault("ended with 124$|" + CLOCK, "a message was lost, or the frequency not measured");

    /** Before 23.07, perftest waits for two queues with one channel, and confuses their events if they arrive together. */
    private static final RetriedFault ONE_CHANNEL = new RetriedFault(
            "^ *Failed status|" + CLOCK,
            "perftest took the event of the other queue, or did not measure the frequency");

    /** The group 239.1.0.1. Linux does not send perftest's default group, ff01::2:c985:0:0, to other hosts. */
    private static final String GROUP = "0:0:0:0:0:0:0:0:0:0:255:255:239:1:0:1";

    private final ExecCases cases;

    private PerftestCases(ExecCases cases) {
        this.cases = cases;
    }

    static void define(ExecCases cases) {
        new PerftestCases(cases).define();
    }

    private void define() {
        for (String kind : List.of("send", "write", "read", "atomic")) {
            String latency = "ib_" + kind + "_lat";
            String bandwidth = "ib_" + kind + "_bw";
            add(latency, QUICK, "-n 200");
            add(bandwidth, QUICK, "-n 200");
            add(latency, FULL, "-n 100 -R");
            add(bandwidth, FULL, "-n 100 -R");
            add(bandwidth, FULL, "-n 100 -q 4");
            add(bandwidth, FULL, "-n 100 -b");
            if (!kind.equals("write")) { // perftest has no events for WRITE
                add(bandwidth, FULL, "-n 100 -e");
            }
        }
        add("ib_send_lat", FULL, "-n 100 -e", ONE_CHANNEL);
        add("ib_read_lat", FULL, "-n 100 -e");
        add("ib_send_lat", FULL, "-n 100 -I 64");
        add("ib_write_lat", FULL, "-n 100 -I 64");
        add("ib_send_bw", FULL, "-n 100 -s 64 -I 64");
        for (String service : List.of("UC", "UD", "XRC")) {
            defineService(service, service.equals("XRC") ? NO_FREQUENCY : LOST_MESSAGE);
        }
        Pair multicast =
                pair("ib_send_lat", "-n 100 -s 512 -c UD -g -M " + GROUP).retriedAfter(NO_FREQUENCY);
        cases.addPair("ib_send_lat/-n100-s512-cUD-g-M", Roles.C_WITH_C, FULL, 30, multicast);
        add("ib_read_lat", FULL, "-n 100 -c XRC");
        add("ib_send_lat", FULL, "-n 100 -s 512 -c UD -R");
        add("ib_send_bw", FULL, "-n 100 -s 512 -c UD -b");
        add("ib_send_bw", FULL, "-n 100 --use-srq");
        add("ib_write_bw", FULL, "-n 200 -s 64 -l 10");
        add("ib_write_bw", FULL, "-n 5 -a");
        add("ib_send_bw", FULL, "-n 100 -z");
        addOnOneHost("ib_send_lat", "-n 500");
        addOnOneHost("ib_write_bw", "-n 500");
        addOnOneHost("ib_send_bw", "-n 500 -s 65536 -c UC"); // more than fits into the shared memory
    }

    private void defineService(String service, RetriedFault fault) {
        boolean isDatagram = service.equals("UD");
        add("ib_send_lat", QUICK, "-n 100 -s 512 -c " + service, fault);
        add("ib_send_bw", FULL, "-n 100 -s 512 -c " + service, fault);
        if (!isDatagram) {
            add("ib_write_lat", FULL, "-n 100 -c " + service, fault);
            add("ib_write_bw", FULL, "-n 100 -c " + service, fault);
        }
    }

    private void add(String tool, boolean isQuick, String options) {
        add(tool, isQuick, options, NO_FREQUENCY);
    }

    private void add(String tool, boolean isQuick, String options, @Nullable RetriedFault fault) {
        Pair pair = pair(tool, options);
        cases.addPairs(tool + "/" + options.replace(" ", ""), isQuick, fault == null ? pair : pair.retriedAfter(fault));
    }

    private void addOnOneHost(String tool, String options) {
        cases.addPairs(
                tool + "/" + options.replace(" ", "") + "--same-host",
                FULL,
                pair(tool, options).onOneHost());
    }

    /** Returns a tool with the same options on both sides. */
    private static Pair pair(String tool, String options) {
        List<String> words = ExecStage.words(options);
        boolean usesManager = words.contains("-R") || words.contains("-z");
        String place = " -F -d rdma4j_eth0" + (usesManager ? "" : " -x " + ExecStage.GID_INDEX);
        String server = tool + place + " " + options;
        return Pair.of(usesManager ? Pair.CM : Pair.tcp(PORT), server, server + " " + SERVER)
                .checked((stage, s, client) -> stage.stage.remark(PerftestTable.figure(client)));
    }
}
