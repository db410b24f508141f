package io.rdma4j.harness.interop;

import io.rdma4j.harness.Capture;
import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The checks of the test environment, without Java: the guest, C against C in it, the tap, and the faults. */
final class SelfTest {
    private static final String GUEST = World.GUEST.ip4();
    private static final Roles C = new Roles(Side.LINUX, Side.LINUX);
    private static final int LIMIT_SECONDS = 60;

    private SelfTest() {}

    static void define(InteropCases cases) {
        add(cases, "C against C in the guest", "5 pings", SelfTest::guestPingsItself);
        add(cases, "guest to tap", "REQ seen and decoded", SelfTest::requestIsCaptured);
        add(cases, "tap to guest", "20 datagrams", SelfTest::datagramsArrive);
        add(cases, "netem in the guest", "half is lost", stage -> losesHalf(stage, Fault.netem("loss 50%")));
        add(cases, "nft on the tap", "half is lost", stage -> losesHalf(stage, Fault.loss(500)));
        add(cases, "faults taken away", "20 datagrams", SelfTest::datagramsArrive);
    }

    private static void add(InteropCases cases, String name, String expected, InteropCases.Body body) {
        cases.add(name, C, expected, Case.Extent.QUICK, LIMIT_SECONDS, body);
    }

    private static void guestPingsItself(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        Rping.pings(Family.V4, Rping.SIZE, 5).run(stage);
    }

    /** Packets of the guest reach the tap and can be decoded there. */
    @SuppressWarnings("try") // closing may throw InterruptedException
    private static void requestIsCaptured(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        Path file = stage.file("self-test.pcap");
        try (Capture _ = Capture.start(stage.world.host(Side.HOST), "tap0", file)) {
            var _ = stage.world.guest().call("timeout 2 rping -c -a " + World.HOST.ip4());
        }
        List<String> requests = Capture.lines(file, "").stream()
                .filter(line -> line.contains("ConnectRequest"))
                .toList();
        Stage.require(!requests.isEmpty(), "the capture has no request of the guest");
        stage.stage.remark(requests.getFirst().strip());
    }

    /** rxe's socket in the guest receives these packets, and drops them because they are not RoCE packets. */
    private static void datagramsArrive(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        long arrived = send(stage, 20);
        Stage.require(arrived == 20, arrived + " of 20 arrived");
    }

    private static void losesHalf(InteropStage stage, Fault fault)
            throws CaseFailure, IOException, InterruptedException {
        int sent = 200;
        stage.world.begin(fault);
        long arrived;
        long dropped;
        try {
            arrived = send(stage, sent);
        } finally {
            dropped = stage.world.end(fault);
        }
        stage.stage.remark(arrived + " of " + sent + " arrived, " + dropped + " dropped");
        Stage.require(arrived + dropped == sent, "other packets than the dropped ones are missing");
        Stage.require(dropped > sent / 4 && dropped < sent * 3 / 4, "the loss is not half");
    }

    /** Sends datagrams to the port that rxe owns in the guest, and returns how many have arrived. */
    private static long send(InteropStage stage, int count) throws CaseFailure, IOException, InterruptedException {
        long before = datagrams(stage);
        String script =
                "exec 3<>/dev/udp/" + GUEST + "/4791; for i in $(seq " + count + "); do printf 'not RoCE' >&3; done";
        stage.world.host(Side.HOST).run("bash", "-c", script);
        Thread.sleep(Duration.ofMillis(500));
        return datagrams(stage) - before;
    }

    private static long datagrams(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String count = "awk '/^Udp: [0-9]/ { print $2 }' /proc/net/snmp";
        return Long.parseLong(
                stage.world.guest().require("the guest has no counters", count).strip());
    }
}
