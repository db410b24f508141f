package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hosts of one process that exchange messages. */
class TestNetworkTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int PORT = 7471;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(4, 4, 1, 1, 0);

    @Test
    void twoHostsExchangeAMessage() throws Exception {
        try (TestNetwork network = new TestNetwork()) {
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2");
            assertThat(exchange(server.connectionManager(), client.connectionManager(), server))
                    .isEqualTo(4711);
        }
    }

    @Test
    void lossIsRepairedAndCaptured(@TempDir Path folder) throws Exception {
        Path capture = folder.resolve("client.pcapng");
        try (TestNetwork network = new TestNetwork()) {
            TestHost server = network.addHost("fd00::1");
            TestHost client = network.addHost(
                    "fd00::2", new HostOptions().withFaults("loss=20%,seed=7").withCapture(capture));
            assertThat(exchange(server.connectionManager(), client.connectionManager(), server))
                    .isEqualTo(4711);
        }
        assertThat(Files.size(capture)).isGreaterThan(1000);
    }

    @Test
    void twoStacksOfOneHostConnectToEachOther() throws Exception {
        try (TestNetwork network = new TestNetwork()) {
            TestHost host = network.addHost("10.0.0.1");
            ConnectionManager second = host.addStack().connectionManager();
            assertThat(exchange(host.connectionManager(), second, host)).isEqualTo(4711);
        }
    }

    @Test
    void closeNamesTheOpenObjects() {
        TestNetwork network = new TestNetwork();
        DeviceContext context = network.addHost("10.0.0.1").device().open();
        assertThatIllegalStateException().isThrownBy(network::close).withMessageContaining("rdma4j_eth0");
        context.close();
    }

    @Test
    void aHundredClosedHostsLeaveNoThreads() throws Exception {
        for (int round = 0; round < 2; round++) {
            try (TestNetwork network = new TestNetwork()) {
                for (int i = 1; i <= 50; i++) {
                    try (DeviceContext context =
                            network.addHost("10.0.1." + i).device().open()) {
                        assertThat(context.gidTable(1)).hasSize(1);
                    }
                }
            }
        }
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!engineThreads().isEmpty() && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        assertThat(engineThreads()).isEmpty();
    }

    private static List<Thread> engineThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdma4j-engine"))
                .toList();
    }

    /** Sends a number from the client to the server, and returns the received number. */
    private static int exchange(ConnectionManager server, ConnectionManager client, TestHost host) throws Exception {
        try (CmId listener = server.createId(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(host.address(), PORT));
            listener.listen(1);
            CompletableFuture<Integer> received = CompletableFuture.supplyAsync(() -> serve(listener));
            send(client, host);
            return received.get(60, TimeUnit.SECONDS);
        }
    }

    private static int serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest()) {
            QueuePair queuePair = connection.createQueuePair(QueuePairInitAttributes.of(CAPABILITIES));
            MemorySegment memory = arena.allocate(64);
            try (MemoryRegion region = connection.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE)) {
                queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(region));
                connection.accept(ConnectionParameters.defaults());
                requireSuccess(queuePair.receiveCompletions());
                return memory.get(ValueLayout.JAVA_INT, 0);
            }
        }
    }

    private static void send(ConnectionManager manager, TestHost server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = manager.createId(PortSpace.TCP)) {
            connection.resolveAddress(new InetSocketAddress(server.address(), PORT), TIMEOUT);
            connection.resolveRoute(TIMEOUT);
            connection.createQueuePair(QueuePairInitAttributes.of(CAPABILITIES));
            connection.connect(ConnectionParameters.defaults());
            assertThat(Objects.requireNonNull(connection.event()).type()).isEqualTo(CmEvent.Type.ESTABLISHED);
            QueuePair queuePair = Objects.requireNonNull(connection.queuePair());
            MemorySegment memory = arena.allocate(64);
            memory.set(ValueLayout.JAVA_INT, 0, 4711);
            try (MemoryRegion region = connection.protectionDomain().register(memory)) {
                queuePair.postSend(SendWorkRequest.send(2, region).signaled());
                requireSuccess(queuePair.sendCompletions());
            }
        }
    }

    private static void requireSuccess(CompletionQueue queue) {
        WorkCompletion[] one = WorkCompletion.array(1);
        queue.await(one);
        assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
    }
}
