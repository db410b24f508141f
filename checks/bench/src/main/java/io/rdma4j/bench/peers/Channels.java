package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** Connects two processes by channels of TCP or of RDMA sockets. */
final class Channels {
    private Channels() {}

    private static boolean isRdma(Parameters parameters) {
        return parameters.text("kind", "tcp").equals("rdma");
    }

    /** Opens a listener on the passive side, and sends its port to the active side. */
    static ServerSocketChannel listen(Control control, Parameters parameters) throws IOException {
        if (isUnix(parameters)) {
            return listenUnix(control);
        }
        ServerSocketChannel listener = isRdma(parameters)
                ? RdmaSockets.openServerSocketChannel(StandardProtocolFamily.INET)
                : ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(WorkerAddresses.SERVER, 0));
        control.send(((InetSocketAddress) listener.getLocalAddress()).getPort());
        return listener;
    }

    /** Listens on a socket whose path has the number that the active side receives in place of a port. */
    private static ServerSocketChannel listenUnix(Control control) throws IOException {
        long number = ProcessHandle.current().pid();
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        UnixDomainSocketAddress address = unix(number);
        listener.bind(address);
        address.getPath().toFile().deleteOnExit();
        control.send(number);
        return listener;
    }

    private static boolean isUnix(Parameters parameters) {
        return parameters.text("kind", "tcp").equals("unix");
    }

    private static UnixDomainSocketAddress unix(long number) {
        return UnixDomainSocketAddress.of(
                Path.of(System.getProperty("java.io.tmpdir", "/tmp"), "rdma4j-bench-" + number + ".sock"));
    }

    /** Accepts a connection on the passive side. */
    static SocketChannel accept(Control control, Parameters parameters) throws IOException {
        try (ServerSocketChannel listener = listen(control, parameters)) {
            return configure(listener.accept(), parameters);
        }
    }

    /** Opens a channel on the active side. */
    static SocketChannel open(Parameters parameters) throws IOException {
        return isRdma(parameters) ? RdmaSockets.openSocketChannel(StandardProtocolFamily.INET) : SocketChannel.open();
    }

    /** Connects on the active side. */
    static SocketChannel connect(Control control, Parameters parameters) throws IOException {
        if (isUnix(parameters)) {
            return configure(SocketChannel.open(unix(control.receive())), parameters);
        }
        SocketChannel channel = open(parameters);
        channel.bind(new InetSocketAddress(WorkerAddresses.CLIENT, 0));
        channel.connect(new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive()));
        return configure(channel, parameters);
    }

    private static SocketChannel configure(SocketChannel channel, Parameters parameters) throws IOException {
        if (!isRdma(parameters) && !isUnix(parameters)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        channel.configureBlocking(parameters.text("wait", "poll").equals("block"));
        return channel;
    }
}
