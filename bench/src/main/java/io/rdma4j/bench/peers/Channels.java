package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Connects two processes by channels of TCP or of RDMA sockets. */
final class Channels {
    private Channels() {}

    private static boolean isRdma(Parameters parameters) {
        return parameters.text("kind", "tcp").equals("rdma");
    }

    /** Opens a listener on the passive side, and sends its port to the active side. */
    static ServerSocketChannel listen(Control control, Parameters parameters) throws IOException {
        ServerSocketChannel listener = isRdma(parameters)
                ? RdmaSockets.openServerSocketChannel(StandardProtocolFamily.INET)
                : ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(WorkerAddresses.SERVER, 0));
        control.send(((InetSocketAddress) listener.getLocalAddress()).getPort());
        return listener;
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
        SocketChannel channel = open(parameters);
        channel.bind(new InetSocketAddress(WorkerAddresses.CLIENT, 0));
        channel.connect(new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive()));
        return configure(channel, parameters);
    }

    private static SocketChannel configure(SocketChannel channel, Parameters parameters) throws IOException {
        if (!isRdma(parameters)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        channel.configureBlocking(parameters.text("wait", "poll").equals("block"));
        return channel;
    }
}
