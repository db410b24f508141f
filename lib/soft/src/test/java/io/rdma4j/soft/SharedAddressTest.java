package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.fixture.TestEndpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Several processes on one address. */
@Timeout(60)
class SharedAddressTest {
    private final String address = TestAddresses.loopback().getHostAddress();
    private final List<ChildProcess> processes = new ArrayList<>();

    @AfterEach
    void end() {
        processes.forEach(ChildProcess::close);
    }

    /** Starts a process that has opened the address before this returns. */
    private ChildProcess start(String... options) throws IOException {
        ChildProcess process = new ChildProcess(PeerProcess.class, List.of(options), address);
        processes.add(process);
        return process;
    }

    private static void connect(ChildProcess a, ChildProcess b) throws IOException, InterruptedException {
        String[] ofA = a.expect("ready");
        String[] ofB = b.expect("ready");
        a.send("connect " + String.join(" ", ofB));
        b.send("connect " + String.join(" ", ofA));
        a.expect("connected");
        b.expect("connected");
    }

    private static long rounds(ChildProcess process) throws IOException, InterruptedException {
        process.send("count");
        return Long.parseLong(process.expect("rounds")[0]);
    }

    private static void assertProgress(ChildProcess process, int wanted) throws IOException, InterruptedException {
        long before = rounds(process);
        long giveUp = System.nanoTime() + 15_000_000_000L;
        long now = before;
        while (now < before + wanted && System.nanoTime() - giveUp < 0) {
            Thread.sleep(20);
            now = rounds(process);
        }
        assertThat(now).as("rounds of a connection").isGreaterThanOrEqualTo(before + wanted);
    }

    @Test
    void fourProcessesShareAnAddressAndSurviveTheKillOfItsOwner() throws IOException, InterruptedException {
        ChildProcess owner = start();
        ChildProcess withOwner = start("-Drdma4j.link=nio");
        connect(owner, withOwner);
        ChildProcess a = start();
        ChildProcess b = start("-Drdma4j.link=nio");
        connect(a, b);
        withOwner.send("run");
        a.send("run");
        assertProgress(a, 100);
        assertProgress(withOwner, 100);
        owner.kill();
        assertProgress(a, 100);
        // One of the three others owns the address now. Whichever it is, the connection also survives its exit.
        withOwner.kill();
        assertProgress(a, 100);
    }

    @Test
    void queuePairKeepsItsUdpPortThroughChangesOfOwner() throws IOException, InterruptedException {
        String enforce = "-Drdma4j.security=source-port=enforce";
        ChildProcess owner = start(enforce);
        ChildProcess withOwner = start(enforce);
        connect(owner, withOwner);
        ChildProcess a = start(enforce);
        ChildProcess b = start(enforce, "-Drdma4j.link=nio");
        connect(a, b);
        withOwner.send("run");
        a.send("run");
        assertProgress(a, 100);
        owner.kill();
        assertProgress(a, 100);
        withOwner.kill();
        assertProgress(a, 100);
    }

    @Test
    void queuePairsOfOtherEnginesShareTheAddressToo() throws IOException, InterruptedException {
        String otherEngine = "-D" + TestEndpoint.VECTOR_PROPERTY + "=1";
        ChildProcess owner = start(otherEngine);
        ChildProcess withOwner = start(otherEngine);
        connect(owner, withOwner);
        ChildProcess a = start(otherEngine);
        ChildProcess b = start(otherEngine, "-Drdma4j.link=nio");
        connect(a, b);
        owner.send("run");
        a.send("run");
        assertProgress(owner, 100);
        assertProgress(a, 100);
        owner.kill();
        assertProgress(a, 100);
    }

    @Test
    void stoppedProcessReceivesResponsesBeforeItsTimersFire() throws IOException, InterruptedException {
        ChildProcess owner = start();
        owner.send("open");
        owner.expect("ready");
        owner.expect("opened");
        ChildProcess a = start();
        ChildProcess b = start();
        connect(a, b);
        a.send("run");
        assertProgress(a, 10);
        for (int i = 0; i < 4; i++) {
            signal(a, "STOP");
            Thread.sleep(700); // longer than all retries of the connection
            signal(a, "CONT");
            assertProgress(a, 10);
        }
    }

    @Test
    void connectionOfTwoOthersContinuesWhileTheOwnerIsStopped() throws IOException, InterruptedException {
        ChildProcess owner = start();
        owner.send("open");
        owner.expect("ready");
        owner.expect("opened");
        ChildProcess a = start();
        ChildProcess b = start("-Drdma4j.link=nio");
        connect(a, b);
        a.send("run");
        assertProgress(a, 10);
        signal(owner, "STOP");
        Thread.sleep(700); // longer than all retries of the connection
        assertProgress(a, 100);
        signal(owner, "CONT");
        assertProgress(a, 10);
    }

    private static void signal(ChildProcess process, String signal) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void captureOfAMemberProcessContainsBothDirections(@TempDir Path directory)
            throws IOException, InterruptedException {
        Path capture = directory.resolve("member.pcapng");
        ChildProcess owner = start();
        ChildProcess member = start("-Drdma4j.pcap=" + capture);
        connect(owner, member);
        member.send("run");
        assertProgress(member, 100);
        byte[] bytes = Files.readAllBytes(capture);
        // A round consists of a WRITE and a READ request. The READ response may acknowledge both.
        assertThat(packets(bytes, 2)).as("frames out").isGreaterThanOrEqualTo(200);
        assertThat(packets(bytes, 1)).as("frames in").isGreaterThanOrEqualTo(100);
    }

    /** Counts the enhanced packet blocks of a direction, which is in the flags option, the last but one word pair. */
    private static int packets(byte[] capture, int direction) {
        ByteBuffer blocks = ByteBuffer.wrap(capture).order(ByteOrder.LITTLE_ENDIAN);
        int count = 0;
        while (blocks.remaining() >= 12) {
            int start = blocks.position();
            int length = blocks.getInt(start + 4);
            if (length > blocks.remaining()) {
                break;
            }
            if (blocks.getInt(start) == 6 && blocks.getInt(start + length - 12) == direction) {
                count++;
            }
            blocks.position(start + length);
        }
        return count;
    }

    @Test
    void faultsOfALinkOnlyDelayTheConnection() throws IOException, InterruptedException {
        ChildProcess a = start("-Drdma4j.fault=loss=2%,dup=2%,reorder=2%,corrupt=1%,delay=100us,seed=7");
        ChildProcess b = start();
        connect(a, b);
        a.send("run");
        assertProgress(a, 200);
    }

    /** Makes a process wait for a number of different datagrams, none of which may be wrong. */
    private static int received(ChildProcess process, int wanted) throws IOException, InterruptedException {
        process.send("heard " + wanted);
        String[] counts = process.expect("heard");
        assertThat(counts[1]).as("datagrams that were not sent").isEqualTo("0");
        int received = Integer.parseInt(counts[0]);
        assertThat(received).as("datagrams received").isGreaterThanOrEqualTo(wanted);
        return received;
    }

    private static String datagrams(ChildProcess process) throws IOException, InterruptedException {
        process.send("datagrams");
        return process.expect("datagrams")[0];
    }

    @Test
    void datagramsAreExchangedBetweenTheProcessesOfAnAddress() throws IOException, InterruptedException {
        ChildProcess owner = start();
        owner.expect("ready");
        String ofOwner = datagrams(owner);
        ChildProcess a = start();
        ChildProcess b = start("-Drdma4j.link=nio");
        a.expect("ready");
        b.expect("ready");
        String ofA = datagrams(a);
        String ofB = datagrams(b);
        a.send("send " + ofB);
        a.expect("sent");
        owner.send("send " + ofA);
        owner.expect("sent");
        b.send("send " + ofOwner);
        b.expect("sent");
        // A process that does not poll while a thousand datagrams arrive loses those without a receive, but gets the
        // others intact.
        int before = received(a, 50);
        assertThat(received(b, 50)).isLessThanOrEqualTo(1000);
        assertThat(received(owner, 50)).isLessThanOrEqualTo(1000);
        owner.kill();
        Thread.sleep(500); // the time in which another process takes over; datagrams sent meanwhile are lost
        b.send("send " + ofA);
        b.expect("sent");
        assertThat(received(a, before + 50)).isLessThanOrEqualTo(2000);
    }

    @Test
    void lostDatagramsDoNotAffectAConnection() throws IOException, InterruptedException {
        ChildProcess a = start("-Drdma4j.fault=loss=5%,seed=3");
        ChildProcess b = start("-Drdma4j.fault=loss=5%,seed=4");
        connect(a, b);
        String ofA = datagrams(a);
        datagrams(b);
        a.send("run");
        assertProgress(a, 20);
        b.send("send " + ofA);
        assertThat(received(a, 100)).isLessThan(1000);
        b.expect("sent");
        assertProgress(a, 50);
        assertThat(received(a, 100)).isLessThan(1000);
    }
}
