package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A client writes to a server at an address of this host, and prints the device of the address. */
public final class WhichDevice {
    private WhichDevice() {}

    /** Runs server and client at the address that the first argument names, or else at the loopback address. */
    public static void main(String[] arguments) throws InterruptedException {
        InetAddress address =
                arguments.length > 0 ? InetAddress.ofLiteral(arguments[0]) : InetAddress.getLoopbackAddress();
        try (CmId listener = CmId.listen(new InetSocketAddress(address, 0), CmQueuePairAttributes.defaults())) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            call(new InetSocketAddress(address, listener.sourcePort()));
            server.join();
        }
    }

    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = new CmVerbs(connection).registerForRemoteAccess(arena.allocate(64))) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
            System.out.println("server: " + region.memory().getString(0));
        }
    }

    // tag::call[]
    private static void call(InetSocketAddress server) {
        try (Arena arena = Arena.ofShared(); // memory on the heap is not for hardware
                CmId connection = CmId.connect(server, CmQueuePairAttributes.defaults());
                MemoryRegion message = new CmVerbs(connection).register(arena.allocate(64))) {
            DeviceContext context = connection.verbs();
            Device device = context.device();
            PortAttributes port = context.port(connection.portNumber());
            System.out.println("client: " + device.name() + " on " + port.networkInterface() + ", "
                    + device.transportType() + ", path MTU " + port.activeMtu().bytes());
            message.memory().setString(0, "written by " + device.name());
            new CmVerbs(connection).write(message, RemoteMemory.decode(connection.peerPrivateData()));
            connection.disconnect();
        }
    }
    // end::call[]
}
