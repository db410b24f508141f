package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.testkit.HostOptions;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RemoteMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/** Two hosts in this process, over a network that loses one packet in ten, with a packet capture for Wireshark. */
public final class TwoHosts {
    private static final int BYTES = 1 << 20;
    private static final int PORT = 7471;

    private TwoHosts() {}

    // tag::network[]
    /** Writes a megabyte from one host to the other. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path capture = Files.createTempFile("two-hosts-", ".pcapng");
        try (TestNetwork network = new TestNetwork()) {
            TestHost left = network.addHost("10.0.0.1");
            TestHost right = network.addHost(
                    "10.0.0.2", new HostOptions().faults("loss=10%,seed=7").capture(capture));
            CmId listener = left.connectionManager()
                    .listen(new InetSocketAddress(left.address(), PORT), CmQueuePairAttributes.defaults());
            try (listener) {
                Thread server = Thread.ofPlatform().start(() -> serve(listener));
                write(right, new InetSocketAddress(left.address(), PORT));
                server.join();
            }
        }
        System.out.println("the capture has " + Files.size(capture) + " bytes");
        Files.delete(capture);
    }
    // end::network[]

    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = new CmVerbs(connection).registerForRemoteAccess(arena.allocate(BYTES))) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
            MemorySegment expected = arena.allocate(BYTES).fill((byte) 42);
            boolean arrived = region.memory().mismatch(expected) == -1;
            System.out.println("10.0.0.1: " + (arrived ? "all bytes arrived" : "bytes are missing"));
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
                System.out.println("10.0.0.2: wrote " + BYTES + " bytes, and the peer has acknowledged them");
            }
            connection.disconnect();
        }
    }
}
