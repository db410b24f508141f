package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

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

    /** A process that has opened the address before this returns. */
    private ChildProcess start(String... options) throws IOException {
        ChildProcess process = new ChildProcess(PeerProcess.class, List.of(options), address);
        processes.add(process);
        return process;
    }

    private static void connect(ChildProcess a, ChildProcess b) throws IOException, InterruptedException {
        String[] ofA = a.expect("ready");
        String[] ofB = b.expect("ready");
        a.tell("connect " + String.join(" ", ofB));
        b.tell("connect " + String.join(" ", ofA));
        a.expect("connected");
        b.expect("connected");
    }

    private static long rounds(ChildProcess process) throws IOException, InterruptedException {
        process.tell("count");
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
    void fourProcessesShareAnAddressAndTheOwnersDeathIsSurvived() throws IOException, InterruptedException {
        ChildProcess owner = start();
        ChildProcess withOwner = start("-Drdma4j.link=nio");
        connect(owner, withOwner);
        ChildProcess a = start();
        ChildProcess b = start("-Drdma4j.link=nio");
        connect(a, b);
        withOwner.tell("run");
        a.tell("run");
        assertProgress(a, 100);
        assertProgress(withOwner, 100);
        owner.kill();
        assertProgress(a, 100);
        // One of the three others owns the address now; whoever it is, the connection outlives the next one, too.
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
        withOwner.tell("run");
        a.tell("run");
        assertProgress(a, 100);
        owner.kill();
        assertProgress(a, 100);
        withOwner.kill();
        assertProgress(a, 100);
    }

    @Test
    void queuePairsOfOtherEnginesShareTheAddressToo() throws IOException, InterruptedException {
        String otherEngine = "-D" + Endpoint.VECTOR_PROPERTY + "=1";
        ChildProcess owner = start(otherEngine);
        ChildProcess withOwner = start(otherEngine);
        connect(owner, withOwner);
        ChildProcess a = start(otherEngine);
        ChildProcess b = start(otherEngine, "-Drdma4j.link=nio");
        connect(a, b);
        owner.tell("run");
        a.tell("run");
        assertProgress(owner, 100);
        assertProgress(a, 100);
        owner.kill();
        assertProgress(a, 100);
    }

    @Test
    void processThatWasStoppedFindsItsAnswersBeforeItsTimersFire() throws IOException, InterruptedException {
        ChildProcess owner = start();
        owner.tell("open");
        owner.expect("ready");
        owner.expect("opened");
        ChildProcess a = start();
        ChildProcess b = start();
        connect(a, b);
        a.tell("run");
        assertProgress(a, 10);
        for (int i = 0; i < 4; i++) {
            // All retries of the connection take half a second.
            signal(a, "STOP");
            Thread.sleep(700);
            signal(a, "CONT");
            assertProgress(a, 10);
        }
    }

    @Test
    void connectionOfTwoOthersGoesOnWhileTheOwnerIsStopped() throws IOException, InterruptedException {
        ChildProcess owner = start();
        owner.tell("open");
        owner.expect("ready");
        owner.expect("opened");
        ChildProcess a = start();
        ChildProcess b = start("-Drdma4j.link=nio");
        connect(a, b);
        a.tell("run");
        assertProgress(a, 10);
        signal(owner, "STOP");
        // All retries of the connection take half a second.
        Thread.sleep(700);
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
    void captureOfAProcessThatDoesNotOwnTheAddressHoldsBothDirections(@TempDir Path directory)
            throws IOException, InterruptedException {
        Path capture = directory.resolve("member.pcapng");
        ChildProcess owner = start();
        ChildProcess member = start("-Drdma4j.pcap=" + capture);
        connect(owner, member);
        member.tell("run");
        assertProgress(member, 100);
        byte[] bytes = Files.readAllBytes(capture);
        // A round is a WRITE and a READ request; the READ's answer may acknowledge both.
        assertThat(packets(bytes, 2)).as("frames out").isGreaterThanOrEqualTo(200);
        assertThat(packets(bytes, 1)).as("frames in").isGreaterThanOrEqualTo(100);
    }

    /** Enhanced packet blocks whose flags option, the last but one word pair, says the direction. */
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
    void faultsOfALinkOnlyCostTime() throws IOException, InterruptedException {
        ChildProcess a = start("-Drdma4j.fault=loss=2%,dup=2%,reorder=2%,corrupt=1%,delay=100us,seed=7");
        ChildProcess b = start();
        connect(a, b);
        a.tell("run");
        assertProgress(a, 200);
    }

    /** Lets a process wait for so many different datagrams; none may be wrong. */
    private static int heard(ChildProcess process, int wanted) throws IOException, InterruptedException {
        process.tell("heard " + wanted);
        String[] counts = process.expect("heard");
        assertThat(counts[1]).as("datagrams that were not sent").isEqualTo("0");
        int heard = Integer.parseInt(counts[0]);
        assertThat(heard).as("datagrams received").isGreaterThanOrEqualTo(wanted);
        return heard;
    }

    private static String datagrams(ChildProcess process) throws IOException, InterruptedException {
        process.tell("datagrams");
        return process.expect("datagrams")[0];
    }

    @Test
    void datagramsGoBetweenTheProcessesOfAnAddress() throws IOException, InterruptedException {
        ChildProcess owner = start();
        owner.expect("ready");
        String ofOwner = datagrams(owner);
        ChildProcess a = start();
        ChildProcess b = start("-Drdma4j.link=nio");
        a.expect("ready");
        b.expect("ready");
        String ofA = datagrams(a);
        String ofB = datagrams(b);
        a.tell("send " + ofB);
        a.expect("sent");
        owner.tell("send " + ofA);
        owner.expect("sent");
        b.tell("send " + ofOwner);
        b.expect("sent");
        // Who does not look while a thousand come loses those for which there is no receive; the rest is whole.
        int before = heard(a, 50);
        assertThat(heard(b, 50)).isLessThanOrEqualTo(1000);
        assertThat(heard(owner, 50)).isLessThanOrEqualTo(1000);
        owner.kill();
        Thread.sleep(500); // the time in which others take its place; what is sent meanwhile is lost
        b.tell("send " + ofA);
        b.expect("sent");
        assertThat(heard(a, before + 50)).isLessThanOrEqualTo(2000);
    }

    @Test
    void lossOfDatagramsDoesNotDisturbAConnection() throws IOException, InterruptedException {
        ChildProcess a = start("-Drdma4j.fault=loss=5%,seed=3");
        ChildProcess b = start("-Drdma4j.fault=loss=5%,seed=4");
        connect(a, b);
        String ofA = datagrams(a);
        datagrams(b);
        a.tell("run");
        assertProgress(a, 20);
        b.tell("send " + ofA);
        assertThat(heard(a, 100)).isLessThan(1000);
        b.expect("sent");
        assertProgress(a, 50);
        assertThat(heard(a, 100)).isLessThan(1000);
    }
}
