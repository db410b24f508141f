package io.rdma4j.harness.interop;

import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.Case.Extent;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The cases of {@code checks/interop/hardware}. The side INSIDE is Java in the guest, on the kernel's devices rxe0 (RoCEv2) and siw0
 * (iWARP); LINUX is C beside it, on the same device; HOST is Java on this host, on the software device.
 */
final class HardwareCases {
    /** Both sides in the guest, and Java. */
    static final Roles INSIDE = new Roles(Side.INSIDE, Side.INSIDE);

    /** The cases of --quick are one of each tool in both roles, on rxe0 and, where they differ, on siw0: not these. */
    private static final Pattern BEYOND_QUICK =
            Pattern.compile("[a-z]+/(rping/(v6|ll|65535|refused)|rdma_client/refused"
                    + "|ucmatose/(-c-8|-S-100000)|rstream/(-T-[ab]|-S-65536)|udaddy/v6|pingpong/[a-z]+/events|rcopy/v4"
                    + "|perftest/ib_((send|read)_bw|send_lat|atomic_bw|[a-z]+_[a-z]+/.*)|conformance|overhead/.*)"
                    + "|rxe/fault/(connections|link-down)|siw/(cmtime/.*|rdma_x?client/.*)"
                    + "|siw/fault/(connections|kill-9/.*|locked-memory|no-permission|deleted/rping)");

    /**
     * The devices and hosts that cases use.
     *
     * @param name the beginning of their names: rxe and siw in the guest, tap between the guest and this host
     */
    record Place(InteropCases cases, String name, Roles roles) {
        void add(String row, String expected, InteropCases.Body body) {
            add(row, expected, 120, body);
        }

        void add(String row, String expected, int seconds, InteropCases.Body body) {
            String device = name.equals("siw") ? "siw0" : "rxe0";
            cases.add(title(row), roles, expected, extent(row), seconds, stage -> body.run(stage.on(device)));
        }

        void cannot(String row, String reason) {
            cases.cannot(title(row), roles, extent(row), reason);
        }

        private String title(String row) {
            return name.isEmpty() ? row : name + "/" + row;
        }

        private Extent extent(String row) {
            return BEYOND_QUICK.matcher(title(row)).matches() ? Extent.FULL : Extent.QUICK;
        }

        Place with(Roles others) {
            return new Place(cases, name, others);
        }
    }

    private HardwareCases() {}

    static void define(InteropCases cases, GuestJava java) {
        Place rxe = new Place(cases, "rxe", INSIDE);
        Place siw = new Place(cases, "siw", INSIDE);
        if (cases.setting.isC(Side.INSIDE)) {
            // C against C has one role.
            defineTools(rxe, siw, List.of(new Roles(Side.LINUX, Side.INSIDE)));
            return;
        }
        Place guest = new Place(cases, "", INSIDE);
        guest.add("java", "starts in the guest", GuestJava::starts);
        guest.add("same-command", "rdma4j_far0, rxe0", 180, GuestJava::usesTheDeviceOfTheAddress);
        java.define(rxe);
        java.define(siw);
        List<Roles> pairs = Roles.both(Side.INSIDE, Side.LINUX);
        defineTools(rxe, siw, List.of(pairs.get(0), pairs.get(1), INSIDE));
        defineOverhead(rxe);
        defineOverhead(siw);
        DeviceFaultCases.define(rxe);
        DeviceFaultCases.define(siw);
        rxe.with(new Roles(Side.HOST, Side.INSIDE))
                .add("fault/link-down", "both sides fail, disconnected", 240, DeviceFaultCases::linkIsDown);
        for (Roles roles : Roles.both(Side.INSIDE, Side.HOST)) {
            Place tap = new Place(cases, "tap", roles);
            defineTap(tap);
            tap.add("netty", "echoes 4 MB", 180, java::echoes);
            new Place(cases, "soft", roles)
                    .add("rping/v4", "without rxe0", GuestJava.withoutRxe(Rping.pings(V4, 64, 10)));
        }
        new Place(cases, "soft", INSIDE)
                .add("chosen", "siw0, rdma4j_iwarp0", 180, GuestJava.withoutRxe(GuestJava::usesTheChosenDevice));
    }

    private static void defineTools(Place rxe, Place siw, List<Roles> pairs) {
        for (Roles roles : pairs) {
            defineConnected(rxe.with(roles));
            defineRoce(rxe.with(roles));
        }
        for (Roles roles : pairs) {
            defineConnected(siw.with(roles));
            defineLimits(siw.with(roles));
        }
    }

    private static void measure(Place at, String row, String expected, String size, String count, String options) {
        at.add("perftest/" + row, expected, PerftestCases.measure(toolOf(row), size, count, options));
    }

    private static void pingpong(
            Place at, String row, String expected, Family family, int size, int count, String options) {
        at.add("pingpong/" + row, expected, PingpongCases.exchange(toolOf(row), family, size, count, options));
    }

    private static void overhead(Place at, String row, String what, int size, int count, String options) {
        at.add("overhead/" + row, "C and Java, " + what, 240, GuestJava.overhead(toolOf(row), size, count, options));
    }

    private static String toolOf(String row) {
        return row.replaceFirst("/.*", "");
    }

    /** The cases that both devices can run. */
    private static void defineConnected(Place at) {
        for (Family family : List.of(V4, V6, LL)) {
            at.add("rping/" + family, "10 pings", Rping.pings(family, 64, 10));
        }
        at.add("rping/65535", "4 pings", Rping.pings(V4, 65535, 4));
        at.add("ucmatose/v4", "10 messages each way", MessageCases.exchange("ucmatose", V4, ""));
        at.add("ucmatose/-c-8", "8 connections", MessageCases.exchange("ucmatose", V6, "-c 8"));
        at.add("ucmatose/-S-100000", "3 x 100000 bytes", MessageCases.exchange("ucmatose", V4, "-S 100000 -C 3"));
        at.add("rdma_client/v4", "1 message each way", EndpointCases.exchange(V4, 7471));
        at.add("rdma_client/refused", "refused, exit 255", EndpointCases.refusal("rdma_client", V4));
        at.add("rdma_xclient/-c-r", "1 message over RC", EndpointCases.exchangeAnywhere("x", V4, 7999, "-c r"));
        at.add("cmtime/classic", "10 connections", 180, CmtimeCases.classic(V4, 10, ""));
        at.add("rstream/v4", "100 x 1000 bytes", StreamCases.small("rstream", V4, "-T v"));
        at.add("rstream/-T-b", "blocking", StreamCases.middle("rstream", V6, "-T b -T v"));
        if (!at.cases.setting.isC(Side.INSIDE)) { // C against C fails; see README.md
            at.add("rstream/-T-a", "poll", StreamCases.middle("rstream", V4, "-T a -T v"));
        }
        List<String> row = List.of("custom 64k 20 1 2.5m");
        at.add("rstream/-S-65536", "20 x 64 KiB", StreamCases.stream("rstream", V4, row, "-S 65536 -C 20 -T v"));
        at.add("rcopy/v4", "2 MB", CopyCases.copy(V4, 2_000_000, ""));
        for (String tool : List.of("ib_send", "ib_write", "ib_read")) {
            measure(at, tool + "_lat", "100 x 2 bytes", "2", "100", "-R -n 100");
            measure(at, tool + "_bw", "100 x 64 KiB", "65536", "100", "-R -n 100");
        }
        measure(at, "ib_send_lat/-e", "50 x 1 KiB, by events", "1024", "50", "-R -n 50 -s 1024 -e");
        measure(at, "ib_write_bw/-q-2", "2 x 100 x 4 KiB", "4096", "200", "-R -n 100 -s 4096 -q 2");
    }

    /** The cases that only RoCE can run. */
    private static void defineRoce(Place at) {
        at.add("rping/refused", "REJ 8, exit 255", ConnectionCases.refused(V4));
        for (Family family : List.of(V4, V6)) {
            at.add("udaddy/" + family, "10 datagrams each way", MessageCases.exchange("udaddy", family, ""));
        }
        at.add("mckey/v4", "2 receivers, 10 each", 180, MulticastCases.group(V4, 2, "", ""));
        at.add("riostream/v4", "100 x 1000 bytes", StreamCases.small("riostream", V4, "-T v"));
        for (String kind : List.of("rc", "uc", "ud")) {
            pingpong(at, kind, "100 exchanges", V4, kind.equals("ud") ? 1024 : 4096, 100, "");
            pingpong(at, kind + "/events", "20 exchanges of 333", V6, 333, 20, "-e");
        }
        pingpong(at, "srq", "300 exchanges", V4, 4096, 300, "");
        pingpong(at, "srq/events", "50 exchanges of 333", V4, 333, 50, "-q 5 -e");
        measure(at, "ib_atomic_lat", "100 fetch-and-add", "8", "100", "-R -n 100");
        measure(at, "ib_atomic_bw", "300 fetch-and-add", "8", "300", "-R -n 300");
        measure(at, "ib_write_lat/tcp", "50 x 2 bytes", "2", "50", "-n 50");
        measure(at, "ib_send_bw/UD", "100 datagrams of 1 KiB", "1024", "100", "-R -n 100 -s 1024 -c UD");
        measure(at, "ib_send_lat/UC", "100 x 1 KiB", "1024", "100", "-n 100 -s 1024 -c UC");
    }

    /** The reasons why siw0 has no such cases. */
    private static void defineLimits(Place siw) {
        for (String tool : List.of("udaddy", "mckey", "perftest/ib_send_bw/UD")) {
            siw.cannot(tool, "iWARP has no UD");
        }
        for (String tool : List.of("perftest/ib_atomic_lat", "perftest/ib_atomic_bw")) {
            siw.cannot(tool, "iWARP has no atomic operations");
        }
        siw.cannot("pingpong", "only the connection manager can connect a queue pair of iWARP");
        // C's rping does not end then.
        siw.cannot("rping/refused", "rdma_connect of iWARP fails at once: siw/rdma_client/refused");
        siw.cannot("perftest/UC", "iWARP has no UC");
    }

    /** The cost of Java on a device, beside C. */
    private static void defineOverhead(Place at) {
        for (String tool : List.of("ib_write_lat", "ib_send_lat")) {
            overhead(at, tool, "2 bytes", 2, 20000, "");
        }
        overhead(at, "ib_send_lat/-e", "by events", 2, 5000, " -e");
        overhead(at, "ib_write_bw/64", "64 bytes", 64, 20000, " -s 64");
        overhead(at, "ib_write_bw/65536", "64 KiB", 65536, 2000, "");
    }

    /** Java on rxe0 and Java on this host's software device, across the tap. */
    private static void defineTap(Place tap) {
        for (Family family : List.of(V4, V6, LL)) {
            tap.add("rping/" + family, "10 pings", Rping.pings(family, 64, 10));
        }
        tap.add("rping/65535", "4 pings", Rping.pings(V4, 65535, 4));
        tap.add("rping/refused", "refused, exit 255", ConnectionCases.refused(V4));
        tap.add("ucmatose/-c-8", "8 connections", MessageCases.exchange("ucmatose", V4, "-c 8"));
        tap.add("udaddy/v4", "10 datagrams each way", MessageCases.exchange("udaddy", V4, ""));
        tap.add("mckey/v4", "2 receivers, 10 each", 180, MulticastCases.group(V4, 2, "", ""));
        tap.add("rstream/v4", "100 x 1000 bytes", StreamCases.small("rstream", V4, "-T v"));
        tap.add("rstream/-T-a", "poll", StreamCases.middle("rstream", V6, "-T a -T v"));
        tap.add("riostream/v4", "100 x 1000 bytes", StreamCases.small("riostream", V4, "-T v"));
        tap.add("rcopy/v4", "2 MB", CopyCases.copy(V4, 2_000_000, ""));
        for (String kind : List.of("rc", "uc", "ud", "srq")) {
            pingpong(tap, kind, "100 exchanges", V4, kind.equals("ud") ? 1024 : 4096, 100, "");
        }
        for (String tool : List.of("ib_send_lat", "ib_write_lat", "ib_read_lat")) {
            measure(tap, tool, "100 x 2 bytes", "2", "100", "-R -n 100");
        }
        for (String tool : List.of("ib_send_bw", "ib_write_bw", "ib_read_bw")) {
            measure(tap, tool, "100 x 64 KiB", "65536", "100", "-R -n 100");
        }
        measure(tap, "ib_atomic_lat", "100 fetch-and-add", "8", "100", "-R -n 100");
    }
}
