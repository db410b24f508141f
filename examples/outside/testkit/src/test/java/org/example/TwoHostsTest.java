package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.testkit.HostOptions;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests of a program outside of this project, with two hosts in memory. */
class TwoHostsTest {
    private static final int BYTES = 1 << 18;
    private static final int PORT = 7471;

    @Test
    void allBytesArriveWhileOneFrameInTenIsLost() throws Exception {
        try (TestNetwork network = new TestNetwork()) {
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2", new HostOptions().faults("loss=10%,seed=7"));
            InetSocketAddress address = new InetSocketAddress(server.address(), PORT);
            try (CmId listener = server.connectionManager().listen(address, CmQueuePairAttributes.defaults())) {
                CompletableFuture<Boolean> arrived = CompletableFuture.supplyAsync(() -> serve(listener));
                write(client, address);
                assertTrue(arrived.get());
            }
        }
    }

    /** The rehearsal of a release sets the property, and so knows that the tests ran where they should have. */
    @Test
    void modulesAreNamedOnTheModulePathOnly() {
        String expected = System.getProperty("expected.path", "module path");
        assertEquals(expected, CmId.class.getModule().isNamed() ? "module path" : "class path");
    }

    private static boolean serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = new CmVerbs(connection).registerForRemoteAccess(arena.allocate(BYTES))) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
            MemorySegment expected = arena.allocate(BYTES).fill((byte) 42);
            return region.memory().mismatch(expected) == -1;
        }
    }

    private static void write(TestHost host, InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = host.connectionManager().connect(server, CmQueuePairAttributes.defaults())) {
            MemorySegment memory = arena.allocate(BYTES);
            memory.fill((byte) 42);
            CmVerbs verbs = new CmVerbs(connection);
            try (MemoryRegion region = verbs.register(memory)) {
                verbs.write(region, RemoteMemory.decode(connection.peerPrivateData()));
            }
            connection.disconnect();
        }
    }
}
