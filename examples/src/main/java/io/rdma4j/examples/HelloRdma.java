package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
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
        try (Listener listener = Listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            call(listener.address());
            server.join();
        }
    }

    // tag::server[]
    private static void serve(Listener listener) {
        MemorySegment memory = Arena.ofAuto().allocate(64);
        try (Exposed exposed = Exposed.of(memory, Access.READ, Access.WRITE);
                Connection client = listener.accept().privateData(exposed).accept()) {
            client.awaitEnd();
            System.out.println("server: my memory says " + memory.getString(0));
        }
    }
    // end::server[]

    // tag::client[]
    private static void call(InetSocketAddress address) {
        try (Connection server = Connection.to(address).connect();
                Buffer buffer = server.allocate(64)) {
            RemoteMemory remote = server.peer().memory();
            buffer.memory().setString(0, "hello, RDMA");
            server.write(buffer, remote);
            buffer.memory().fill((byte) 0);
            server.read(buffer, remote);
            System.out.println("client: read " + buffer.memory().getString(0));
        }
    }
    // end::client[]
}
