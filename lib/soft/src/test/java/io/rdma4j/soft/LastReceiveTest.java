package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.SendWorkRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that has polled a message may exit immediately: the message is still acknowledged. */
@Timeout(30)
class LastReceiveTest {
    private final InetAddress address = TestAddresses.loopback();

    @Test
    void messagePolledBeforeTheProcessExitsIsAcknowledged() throws IOException, InterruptedException {
        for (int i = 0; i < 3; i++) {
            try (TestEndpoint sender = new TestEndpoint(address);
                    ChildProcess child =
                            new ChildProcess(LastReceiveProcess.class, List.of(), address.getHostAddress())) {
                int peer = Integer.parseInt(child.expect("ready")[0]);
                sender.connect(address, peer, sender.psn);
                child.send(String.valueOf(sender.queuePair.number()));
                child.expect("posted");
                sender.queuePair.postSend(
                        new SendWorkRequest().reset(2).from(sender.region, 0, 8).signaled());
                assertThat(sender.completion().isSuccess()).isTrue();
                child.expect("END");
            }
        }
    }
}
