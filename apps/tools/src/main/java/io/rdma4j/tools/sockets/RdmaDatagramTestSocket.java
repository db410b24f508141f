package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.RdmaDatagramSocket;
import io.rdma4j.tools.command.AddressFamilies;
import io.rdma4j.tools.command.RdmaAccess;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.DeviceChoice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A datagram RDMA socket. */
record RdmaDatagramTestSocket(RdmaDatagramSocket socket) implements DatagramTestSocket {
    /**
     * Opens a socket.
     *
     * @throws IOException if there is no device, with a cause of {@link Errno#ENODEV}. A socket would wait for a device
     */
    static RdmaDatagramTestSocket open(RdmaAccess rdma) throws IOException {
        if (rdma.devices().isEmpty()) {
            RdmaException cause = noDevice();
            throw new IOException(cause.getMessage(), cause);
        }
        RdmaDatagramSocket socket = rdma.openDatagramSocket();
        socket.configureBlocking(false);
        return new RdmaDatagramTestSocket(socket);
    }

    private static RdmaException noDevice() {
        String requested = DeviceChoice.current().requested();
        return requested == null
                ? new RdmaException("rsocket", Errno.ENODEV, "this host has no RDMA device", "")
                : new RdmaException(
                        "rsocket",
                        Errno.ENODEV,
                        "the device '" + requested + "' does not exist",
                        "--device or RDMA4J_DEVICE selects it; ibv_devices lists the devices");
    }

    @Override
    public void setBuffers(int bytes) throws IOException {
        socket.setOption(StandardSocketOptions.SO_SNDBUF, bytes).setOption(StandardSocketOptions.SO_RCVBUF, bytes);
    }

    @Override
    public void bind(InetSocketAddress local) throws IOException {
        AddressFamilies.act(() -> socket.bind(local));
    }

    @Override
    public void connect(InetSocketAddress remote) throws IOException {
        AddressFamilies.act(() -> socket.connect(remote));
    }

    @Override
    public boolean send(ByteBuffer data) throws IOException {
        return socket.send(data);
    }

    @Override
    public boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException {
        return AddressFamilies.call(() -> socket.sendTo(data, remote));
    }

    @Override
    public @Nullable InetSocketAddress receive(ByteBuffer target) throws IOException {
        return socket.receiveFrom(target);
    }

    @Override
    public int await(int event, @Nullable Duration timeout) throws IOException {
        return socket.await(event, timeout);
    }

    @Override
    public void close() {
        socket.close();
    }
}
