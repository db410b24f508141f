package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.PortAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A client writes to a server at an address of this host, and prints the device of the address. */
public final class WhichDevice {
    private WhichDevice() {}

    /** Runs server and client at the address in the first argument, by default the loopback address. */
    public static void main(String[] arguments) throws InterruptedException {
        InetAddress address =
                arguments.length > 0 ? InetAddress.ofLiteral(arguments[0]) : InetAddress.getLoopbackAddress();
        try (Listener listener = Listener.bind(new InetSocketAddress(address, 0))) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            call(listener.address());
            server.join();
        }
    }

    private static void serve(Listener listener) {
        MemorySegment memory = Arena.ofAuto().allocate(64); // hardware cannot use memory on the heap
        try (Exposed exposed = Exposed.of(memory, Access.WRITE);
                Connection client = listener.accept().privateData(exposed).accept()) {
            client.awaitEnd();
            System.out.println("server: " + memory.getString(0));
        }
    }

    // tag::call[]
    private static void call(InetSocketAddress address) {
        try (Connection server = Connection.to(address).connect();
                Buffer message = server.allocate(64)) {
            CmId id = server.id();
            Device device = id.verbs().device();
            PortAttributes port = id.verbs().port(id.portNumber());
            System.out.println("client: " + device.name() + " on " + port.networkInterface() + ", "
                    + device.transportType() + ", path MTU " + port.activeMtu().bytes());
            message.memory().setString(0, "written by " + device.name());
            server.write(message, server.peer().memory());
        }
    }
    // end::call[]
}
