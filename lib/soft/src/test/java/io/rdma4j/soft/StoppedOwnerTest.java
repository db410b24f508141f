package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** While the process that owns UDP port 4791 of an address is stopped, another one replaces it. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class StoppedOwnerTest {
    /** Longer than a stopped owner remains the owner. */
    private static final long TAKEOVER_MILLIS = 3000;

    private static final long PROGRESS_NANOS = 15_000_000_000L;

    private final String address = TestAddresses.loopback().getHostAddress();
    private final String elsewhere = TestAddresses.loopback().getHostAddress();
    private final List<Peer> peers = new ArrayList<>();

    /** A process that listens. */
    private static final class Peer {
        private final ChildProcess process;
        private final String address;
        private final String port;

        Peer(String address, String... options) throws IOException, InterruptedException {
            List<String> all = new ArrayList<>(List.of(options));
            all.add("-Drdma4j.shared-memory=off");
            process = new ChildProcess(StoppableProcess.class, all, address);
            this.address = address;
            port = process.expect("listening")[0];
        }

        /** Connects to another process, and keeps writing. */
        void dial(String name, Peer to) throws IOException, InterruptedException {
            process.send("dial " + name + " " + to.address + " " + to.port);
            process.expect("dialed");
        }

        long count(String name) throws IOException, InterruptedException {
            process.send("count " + name);
            String[] count = process.expect("count");
            assertThat(count[1]).as("failure of connection " + name).isEqualTo("-");
            return Long.parseLong(count[0]);
        }

        void assertProgress(String name) throws IOException, InterruptedException {
            long wanted = count(name) + 50;
            long giveUp = System.nanoTime() + PROGRESS_NANOS;
            while (count(name) < wanted && System.nanoTime() - giveUp < 0) {
                Thread.sleep(20);
            }
            assertThat(count(name)).as("writes of connection " + name).isGreaterThanOrEqualTo(wanted);
        }

        void awaitEnded(int wanted) throws IOException, InterruptedException {
            long giveUp = System.nanoTime() + PROGRESS_NANOS;
            int ended = -1;
            while (ended < wanted && System.nanoTime() - giveUp < 0) {
                Thread.sleep(20);
                process.send("ended");
                ended = Integer.parseInt(process.expect("ended")[0]);
            }
            assertThat(ended).as("connections that have ended").isEqualTo(wanted);
        }

        void signal(String signal) throws IOException, InterruptedException {
            assertThat(new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                            .start()
                            .waitFor())
                    .isZero();
        }
    }

    private Peer start(String where, String... options) throws IOException, InterruptedException {
        Peer peer = new Peer(where, options);
        peers.add(peer);
        return peer;
    }

    @AfterEach
    void end() {
        peers.forEach(peer -> peer.process.close());
    }

    @Test
    void othersConnectWhileTheOwnerIsStoppedAndItContinuesAsAMember() throws IOException, InterruptedException {
        Peer owner = start(address);
        Peer a = start(address);
        Peer b = start(address);
        Peer far = start(elsewhere);
        a.dial("toB", b);
        a.dial("toFar", far);
        far.dial("toA", a);
        owner.dial("toFar", far);
        owner.dial("toA", a);
        far.dial("toOwner", owner);
        owner.signal("STOP");
        a.dial("newToB", b);
        a.dial("newToFar", far);
        far.dial("newToA", a);
        far.dial("newToB", b);
        for (String name : List.of("toB", "toFar", "newToB", "newToFar")) {
            a.assertProgress(name);
        }
        for (String name : List.of("toA", "newToA", "newToB")) {
            far.assertProgress(name);
        }
        owner.signal("CONT");
        owner.assertProgress("toFar");
        owner.assertProgress("toA");
        far.assertProgress("toOwner");
        far.dial("newToOwner", owner);
        far.assertProgress("newToOwner");
        a.dial("newToOwner", owner);
        a.assertProgress("newToOwner");
        owner.dial("newToB", b);
        owner.assertProgress("newToB");
        far.assertProgress("newToA");
        a.assertProgress("toB");
        far.awaitEnded(0);
        a.awaitEnded(0);
    }

    @Test
    void deathOfAStoppedOwnerIsReportedAfterItsReplacement() throws IOException, InterruptedException {
        Peer owner = start(address);
        Peer a = start(address);
        Peer b = start(address);
        Peer far = start(elsewhere);
        owner.dial("toA", a);
        owner.dial("toFar", far);
        a.dial("toB", b);
        owner.assertProgress("toFar");
        owner.signal("STOP");
        Thread.sleep(TAKEOVER_MILLIS); // meanwhile another process replaces the owner
        far.dial("toA", a);
        far.dial("toB", b);
        owner.process.kill();
        a.awaitEnded(1);
        far.awaitEnded(1); // on behalf of the killed process
        a.assertProgress("toB");
        far.assertProgress("toA");
        far.assertProgress("toB");
        far.dial("againToB", b);
        far.assertProgress("againToB");
    }

    @Test
    void successorMayAlsoBeStopped() throws IOException, InterruptedException {
        Peer owner = start(address);
        Peer second = start(address);
        Peer far = start(elsewhere);
        owner.signal("STOP");
        far.dial("toSecond", second);
        Peer third = start(address);
        second.signal("STOP");
        far.dial("toThird", third);
        far.assertProgress("toThird");
        owner.signal("CONT");
        second.signal("CONT");
        far.dial("toOwner", owner);
        far.assertProgress("toOwner");
        far.dial("againToSecond", second);
        far.assertProgress("againToSecond");
        far.assertProgress("toThird");
        third.process.kill();
        far.awaitEnded(0);
        far.dial("lastToOwner", owner);
        far.dial("lastToSecond", second);
        far.assertProgress("lastToOwner");
        far.assertProgress("lastToSecond");
        far.assertProgress("toOwner");
    }

    @Test
    void processThatStartsWhileTheOnlyOneIsStoppedReplacesIt() throws IOException, InterruptedException {
        Peer owner = start(address);
        Peer far = start(elsewhere);
        owner.signal("STOP");
        Peer newcomer = start(address);
        far.dial("toNewcomer", newcomer);
        far.assertProgress("toNewcomer");
        newcomer.process.kill();
        Peer next = start(address); // finds the port held, but not served
        far.dial("toNext", next);
        far.assertProgress("toNext");
        owner.process.kill();
        far.dial("againToNext", next);
        far.assertProgress("againToNext");
        Peer last = start(address);
        far.dial("toLast", last);
        far.assertProgress("toLast");
    }

    @Test
    void ownerThatIsStoppedBrieflyRemainsOwner() throws IOException, InterruptedException {
        Peer owner = start(address);
        Peer a = start(address);
        Peer far = start(elsewhere);
        far.dial("toA", a);
        far.dial("toOwner", owner);
        for (int i = 0; i < 3; i++) {
            owner.signal("STOP");
            Thread.sleep(500); // shorter than a stopped owner remains the owner
            owner.signal("CONT");
            far.assertProgress("toA");
            far.assertProgress("toOwner");
        }
    }
}
