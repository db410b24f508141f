package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import java.util.List;

/** The cases of all tools except rping. */
final class ToolCases {
    private static final Fault REORDER = Fault.netem("delay 3ms reorder 25% 50%");

    private ToolCases() {}

    /** C in the guest against Java, in both roles. */
    static void define(InteropCases cases) {
        for (Roles roles : Roles.JAVA_AND_C) {
            PingpongCases.define(cases, roles);
            PerftestCases.define(cases, roles);
            MessageCases.define(cases, roles);
            MulticastCases.define(cases, roles);
            EndpointCases.define(cases, roles);
            MulticastCases.defineLimits(cases, roles);
            CmtimeCases.define(cases, roles);
            StreamCases.define(cases, roles);
            FlushCases.define(cases, roles);
        }
        for (Roles roles : Roles.JAVA_AND_C) {
            defineDamage(new Rows(cases, roles, 100));
        }
    }

    /** Packets are lost, or delayed and reordered. */
    private static void defineDamage(Rows rows) {
        InteropCases.Body messages = MessageCases.exchange("ucmatose", V4, "");
        add(rows, "ucmatose/loss", "10 messages each way", Fault.loss(20), messages);
        add(rows, "ucmatose/reorder", "10 messages each way", REORDER, messages);
        InteropCases.Body stream = StreamCases.small("rstream", V4, "-T v");
        add(rows, "rstream/loss", "100 x 1000 bytes", Fault.loss(20), stream);
        add(rows, "rstream/reorder", "100 x 1000 bytes", REORDER, stream);
        add(rows, "rcopy/loss", "200 kB", Fault.loss(20), CopyCases.copy(V4, 200_000, ""));
        InteropCases.Body writes = PerftestCases.measure("ib_write_bw", "4096", "100", "-R -n 100 -s 4096");
        add(rows, "perftest/ib_write_bw/loss", "100 x 4 KiB", Fault.loss(10), writes);
    }

    private static void add(Rows rows, String name, String expected, Fault fault, InteropCases.Body body) {
        rows.add(name, expected, FULL, stage -> stage.under(fault, body));
    }

    /** The C programs over {@code rdma4j exec} against those in the guest. */
    static void defineByExec(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 60);
        rows.add("exec/ucmatose", "8 connections", QUICK, MessageCases.exchange("ucmatose", V4, "-c 8"));
        rows.add("exec/ucmatose/v6", "3 x 100000 bytes", MessageCases.exchange("ucmatose", V6, "-S 100000 -C 3"));
        InteropCases.Body messages = MessageCases.exchange("ucmatose", V4, "");
        add(new Rows(cases, roles, 100), "exec/ucmatose/loss", "10 messages each way", Fault.loss(50), messages);
        rows.add("exec/udaddy", "10 datagrams each way", MessageCases.exchange("udaddy", V4, ""));
        rows.add("exec/udaddy/v6", "4 services", MessageCases.exchange("udaddy", V6, "-c 4 -S 1024"));
        rows.add("exec/mckey", "2 receivers, 10 each", QUICK, MulticastCases.group(V4, 2, "", ""));
        rows.add("exec/rdma_client", "1 message each way", FULL, 40, EndpointCases.exchange(V4, 7471));
        rows.add("exec/rdma_xclient", "1 message over RC", FULL, 40, EndpointCases.exchangeAnywhere("x", V4, 7471, ""));
        defineStreamsByExec(rows);
        if (cases.setting.isDebian13()) {
            String reason =
                    "cmtime of rdma-core 45 to 60 in the guest has a protocol of its own, and the host has that of 44";
            cases.cannot("exec/cmtime", roles, FULL, reason);
        } else {
            rows.add("exec/cmtime", "10 connections", CmtimeCases.classic(V4, 10, ""));
        }
        PingpongCases.defineByExec(cases, roles);
        PerftestCases.defineByExec(cases, roles);
    }

    private static void defineStreamsByExec(Rows rows) {
        rows.add("exec/rstream", "100 x 1000 bytes", QUICK, StreamCases.small("rstream", V4, "-T v"));
        rows.add("exec/rstream/v6", "blocking", StreamCases.middle("rstream", V6, "-T b -T v"));
        rows.add(
                "exec/riostream",
                "3 x 1 MiB",
                StreamCases.stream("riostream", V4, List.of("custom 1m 3 1 6m"), "-S 1048576 -C 3 -T v"));
        rows.add("exec/rcopy", "2 MB", CopyCases.copy(V4, 2_000_000, ""));
    }
}
