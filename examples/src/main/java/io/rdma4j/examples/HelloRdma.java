package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A client writes into the memory of a server and reads it back. The server does nothing meanwhile. */
public final class HelloRdma {
    private HelloRdma() {}

    /** Runs server and client, each in a thread. */
    public static void main(String[] arguments) throws InterruptedException {
        try (CmId listener = CmId.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CmQueuePairAttributes.defaults())) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            call(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()));
            server.join();
        }
    }

    // tag::server[]
    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = new CmVerbs(connection).registerForRemoteAccess(arena.allocate(64))) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
            System.out.println("server: my memory says " + region.memory().getString(0));
        }
    }
    // end::server[]

    // tag::client[]
    private static void call(InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = CmId.connect(server, CmQueuePairAttributes.defaults())) {
            RemoteMemory remote = RemoteMemory.decode(connection.peerPrivateData());
            CmVerbs verbs = new CmVerbs(connection);
            MemorySegment memory = arena.allocate(64);
            try (MemoryRegion region = verbs.register(memory)) {
                memory.setString(0, "hello, RDMA");
                verbs.write(region, remote);
                memory.fill((byte) 0);
                verbs.read(region, remote);
                System.out.println("client: read " + memory.getString(0));
            }
            connection.disconnect();
        }
    }
    // end::client[]
}
