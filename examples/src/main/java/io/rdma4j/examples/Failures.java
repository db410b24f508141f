package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.Objects;

/** How calls, connections and work requests fail, and where a program sees it. */
public final class Failures {
    private static final int BYTES = 64;

    private Failures() {}

    /** Lets one operation of each kind fail, between two hosts in this process. */
    public static void main(String[] arguments) throws InterruptedException {
        try (TestNetwork network = new TestNetwork()) {
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2");
            try (CmId listener = server.connectionManager()
                    .listen(new InetSocketAddress(server.address(), 7471), CmQueuePairAttributes.defaults())) {
                refused(client, new InetSocketAddress(server.address(), 7472));
                Thread thread = Thread.ofPlatform().start(() -> serve(listener));
                withoutReceive(client, new InetSocketAddress(server.address(), 7471));
                thread.join();
                thread = Thread.ofPlatform().start(() -> serve(listener));
                withoutRight(client, new InetSocketAddress(server.address(), 7471));
                thread.join();
            }
        }
    }

    // tag::refused[]
    private static void refused(TestHost client, InetSocketAddress nobody) {
        try (CmId connection = client.connectionManager().connect(nobody, CmQueuePairAttributes.defaults())) {
            throw new IllegalStateException("connected to " + connection.peerAddress());
        } catch (RdmaException e) {
            if (e.errno() != Errno.ECONNREFUSED) {
                throw e; // ETIMEDOUT: nothing answers; ENODEV: no device leads there; …
            }
            System.out.println(e.getMessage());
        }
    }
    // end::refused[]

    // tag::server[]
    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = new CmVerbs(connection).registerForRead(arena.allocate(BYTES))) {
            connection.accept(ConnectionParameters.defaults()
                    .withRetries(7, 2) // the client repeats a message twice while no receive is posted; 7: without end
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
        }
    }
    // end::server[]

    // tag::receive[]
    private static void withoutReceive(TestHost client, InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = client.connectionManager().connect(server, CmQueuePairAttributes.defaults());
                MemoryRegion message = new CmVerbs(connection).register(arena.allocate(BYTES))) {
            new CmVerbs(connection).send(message); // the server has posted no receive
        } catch (RdmaException e) {
            System.out.println(e.getMessage());
        }
    }
    // end::receive[]

    // tag::right[]
    private static void withoutRight(TestHost client, InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = client.connectionManager().connect(server, CmQueuePairAttributes.defaults());
                MemoryRegion region = new CmVerbs(connection).register(arena.allocate(BYTES))) {
            RemoteMemory readable = RemoteMemory.decode(connection.peerPrivateData());
            QueuePair queuePair = Objects.requireNonNull(connection.queuePair());
            queuePair.postSend(SendWorkRequest.write(1, region, readable).signaled()); // only reading is allowed
            queuePair.postSend(SendWorkRequest.read(2, region, readable).signaled());
            WorkCompletion completion = new WorkCompletion();
            for (int i = 0; i < 2; i++) {
                new CmVerbs(connection).awaitSendCompletion(completion); // does not throw for a failed completion
                System.out.println(completion + ": " + queuePair.explain(completion.status()));
            }
            System.out.println("the queue pair is in the state " + queuePair.state());
        }
    }
    // end::right[]
}
