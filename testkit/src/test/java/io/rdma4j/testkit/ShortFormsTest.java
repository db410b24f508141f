package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The short forms that a first program uses: listen, connect, write, read, and their failures. */
class ShortFormsTest {
    private static final int PORT = 7471;

    /** Runs a client against a server that offers 64 bytes, and returns what they hold at the end. */
    private static String run(Consumer<CmId> client) throws ExecutionException, InterruptedException, TimeoutException {
        try (TestNetwork network = new TestNetwork()) {
            TestHost host = network.addHost("10.0.0.1");
            InetSocketAddress address = new InetSocketAddress(host.address(), PORT);
            try (CmId listener = host.connectionManager().listen(address, CmQueuePairAttributes.defaults())) {
                CompletableFuture<String> served = CompletableFuture.supplyAsync(() -> serve(listener));
                try (CmId id = network.addHost("10.0.0.2")
                        .connectionManager()
                        .connect(address, CmQueuePairAttributes.defaults())) {
                    client.accept(id);
                }
                return served.get(60, TimeUnit.SECONDS);
            }
        }
    }

    private static String serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = new CmVerbs(connection).registerForRemoteAccess(arena.allocate(64))) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
            connection.awaitDisconnect(); // it has ended
            return region.memory().getString(0);
        }
    }

    @Test
    void aClientWritesAndReadsTheMemoryOfTheServer() throws Exception {
        String held = run(id -> {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment memory = arena.allocate(64);
                CmVerbs verbs = new CmVerbs(id);
                try (MemoryRegion region = verbs.register(memory)) {
                    RemoteMemory remote = RemoteMemory.decode(id.peerPrivateData());
                    memory.setString(0, "hello");
                    verbs.write(region, remote);
                    memory.fill((byte) 0);
                    verbs.read(region, remote);
                    assertThat(memory.getString(0)).isEqualTo("hello");
                }
            }
        });
        assertThat(held).isEqualTo("hello");
    }

    @Test
    void aFailedOperationThrowsItsStatus() throws Exception {
        run(id -> {
            try (Arena arena = Arena.ofShared()) {
                CmVerbs verbs = new CmVerbs(id);
                try (MemoryRegion region = verbs.register(arena.allocate(64))) {
                    RemoteMemory remote = RemoteMemory.decode(id.peerPrivateData());
                    RemoteMemory wrong = new RemoteMemory(remote.address(), remote.key() + 1, remote.lengthBytes());
                    assertThatExceptionOfType(RdmaException.class)
                            .isThrownBy(() -> verbs.write(region, wrong))
                            .withMessageContaining("REMOTE_ACCESS_ERROR")
                            .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
                }
            }
        });
    }
}
