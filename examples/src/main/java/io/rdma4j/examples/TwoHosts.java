package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.testkit.HostOptions;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/** Two hosts in this process, over a network that loses one packet in ten, with a packet capture for Wireshark. */
public final class TwoHosts {
    private static final int BYTES = 1 << 20;

    private TwoHosts() {}

    // tag::network[]
    /** Writes a megabyte from one host to the other. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path capture = Files.createTempFile("two-hosts-", ".pcapng");
        try (TestNetwork network = new TestNetwork()) {
            TestHost left = network.addHost("10.0.0.1");
            TestHost right = network.addHost(
                    "10.0.0.2", new HostOptions().withFaults("loss=10%,seed=7").withCapture(capture));
            try (Listener listener =
                    Listener.bind(left.connectionManager(), new InetSocketAddress(left.address(), 7471))) {
                Thread server = Thread.ofPlatform().start(() -> serve(listener));
                write(right, listener.address());
                server.join();
            }
        }
        System.out.println("the capture has " + Files.size(capture) + " bytes");
        Files.delete(capture);
    }
    // end::network[]

    private static void serve(Listener listener) {
        MemorySegment memory = Arena.ofAuto().allocate(BYTES);
        try (Exposed exposed = Exposed.of(memory, Access.WRITE);
                Connection client = listener.accept().privateData(exposed).accept()) {
            client.awaitEnd();
            MemorySegment expected = Arena.ofAuto().allocate(BYTES).fill((byte) 42);
            boolean arrived = memory.mismatch(expected) == -1;
            System.out.println("10.0.0.1: " + (arrived ? "all bytes arrived" : "bytes are missing"));
        }
    }

    private static void write(TestHost host, InetSocketAddress address) {
        try (Connection server =
                        Connection.to(address).over(host.connectionManager()).connect();
                Buffer source = server.allocate(BYTES)) {
            source.memory().fill((byte) 42);
            server.write(source, server.peer().memory());
            System.out.println("10.0.0.2: wrote " + BYTES + " bytes, and the peer has acknowledged them");
        }
    }
}
