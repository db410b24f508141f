package io.rdma4j.sockets;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A process in which servers listen at the wildcard address, over the transport that the argument names. It prints a
 * line for each kind of channel.
 */
public final class WithoutIpv6Process {
    private interface Trial {
        String run() throws IOException;
    }

    private WithoutIpv6Process() {}

    /** Runs the process. */
    public static void main(String[] arguments) {
        AddressRules rules = AddressRules.parse("*=" + arguments[0]);
        print("server", () -> exchange(rules, new InetSocketAddress(0)));
        print("server, null", () -> exchange(rules, null));
        print("client", () -> {
            try (SocketChannel channel = new RdmaSelectorProvider(rules).openSocketChannel()) {
                return hostOf(Objects.requireNonNull(channel.bind(null).getLocalAddress()));
            }
        });
        print("asynchronous", () -> {
            try (AsynchronousServerSocketChannel server =
                    new RdmaAsynchronousChannelProvider(rules).openAsynchronousServerSocketChannel(null)) {
                return hostOf(Objects.requireNonNull(
                        server.bind(new InetSocketAddress(0)).getLocalAddress()));
            }
        });
    }

    private static void print(String what, Trial trial) {
        String result;
        try {
            result = trial.run();
        } catch (IOException | RuntimeException failed) {
            result = failed.toString();
        }
        System.out.println(what + ": " + result);
    }

    private static String exchange(AddressRules rules, @Nullable InetSocketAddress local) throws IOException {
        RdmaSelectorProvider provider = new RdmaSelectorProvider(rules);
        try (ServerSocketChannel server = provider.openServerSocketChannel().bind(local);
                SocketChannel client = provider.openSocketChannel()) {
            InetSocketAddress bound = (InetSocketAddress) Objects.requireNonNull(server.getLocalAddress());
            client.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), bound.getPort()));
            try (SocketChannel accepted = Objects.requireNonNull(server.accept())) {
                client.write(ByteBuffer.wrap(new byte[] {42}));
                ByteBuffer read = ByteBuffer.allocate(1);
                accepted.read(read);
                return hostOf(bound) + " " + hostOf(Objects.requireNonNull(accepted.getLocalAddress())) + " read "
                        + read.get(0);
            }
        }
    }

    private static String hostOf(Object address) {
        return ((InetSocketAddress) address).getAddress().getHostAddress();
    }
}
