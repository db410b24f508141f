package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
}
