package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The short forms of the connection manager: listen, connect and wait for the end. */
class ShortFormsTest {
    private static final int PORT = 7471;

    @Test
    void aClientWritesAndReadsTheMemoryOfTheServer() throws Exception {
        try (TestNetwork network = new TestNetwork()) {
            TestHost host = network.addHost("10.0.0.1");
            InetSocketAddress address = new InetSocketAddress(host.address(), PORT);
            try (CmId listener = host.connectionManager().listen(address, QueuePairInitAttributes.defaults())) {
                CompletableFuture<String> served = CompletableFuture.supplyAsync(() -> serve(listener));
                try (CmId id = network.addHost("10.0.0.2")
                        .connectionManager()
                        .connect(address, QueuePairInitAttributes.defaults())) {
                    writeAndRead(id);
                }
                assertThat(served.get(60, TimeUnit.SECONDS)).isEqualTo("hello");
            }
        }
    }

    /** Offers 64 bytes to a client, and returns the text in them at the end. */
    private static String serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = connection
                        .protectionDomain()
                        .register(
                                arena.allocate(64),
                                AccessFlag.LOCAL_WRITE,
                                AccessFlag.REMOTE_READ,
                                AccessFlag.REMOTE_WRITE)) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
            connection.awaitDisconnect(); // it has ended
            return region.memory().getString(0);
        }
    }

    private static void writeAndRead(CmId id) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            try (MemoryRegion region = id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE)) {
                RemoteMemory remote = RemoteMemory.decode(id.peerPrivateData());
                memory.setString(0, "hello");
                complete(id, SendWorkRequest.write(1, region, remote));
                memory.fill((byte) 0);
                complete(id, SendWorkRequest.read(2, region, remote));
                assertThat(memory.getString(0)).isEqualTo("hello");
            }
        }
    }

    private static void complete(CmId id, SendWorkRequest request) {
        QueuePair queuePair = Objects.requireNonNull(id.queuePair());
        queuePair.postSend(request.signaled());
        WorkCompletion[] one = WorkCompletion.array(1);
        assertThat(queuePair.sendCompletions().await(one)).isEqualTo(1);
        assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
    }
}
