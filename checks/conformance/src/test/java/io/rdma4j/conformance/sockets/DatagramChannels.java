package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;

/** Datagram channels of this process, all at one address of the device under test. */
final class DatagramChannels implements AutoCloseable {
    /** A kind of channel. The tests also run with the platform's channels, which shows that they expect the behaviour of Java. */
    enum Kind {
        RDMA,
        UDP;

        DatagramChannel open(ProtocolFamily family) throws IOException {
            return this == RDMA ? RdmaSockets.openDatagramChannel(family) : DatagramChannel.open(family);
        }

        Selector selector() throws IOException {
            return this == RDMA ? RdmaSockets.openSelector() : Selector.open();
        }
    }

    final InetAddress address = TestDevices.freshAddress();
    private final Kind kind;
    private final List<DatagramChannel> opened = new ArrayList<>();

    DatagramChannels(Kind kind) {
        if (kind == Kind.RDMA) {
            TestDevices.require(Capability.DATAGRAMS);
        }
        this.kind = kind;
    }

    /** Returns an unbound channel, which {@link #close} closes. */
    DatagramChannel open() throws IOException {
        return open(StandardProtocolFamily.INET);
    }

    DatagramChannel open(ProtocolFamily family) throws IOException {
        DatagramChannel made = kind.open(family);
        opened.add(made);
        return made;
    }

    /** Returns a channel bound to a port of the address. */
    DatagramChannel bound() throws IOException {
        return open().bind(new InetSocketAddress(address, 0));
    }

    /** Returns two channels that are connected to each other. */
    DatagramChannel[] connected() throws IOException {
        DatagramChannel a = bound();
        DatagramChannel b = bound();
        return new DatagramChannel[] {a.connect(b.getLocalAddress()), b.connect(a.getLocalAddress())};
    }

    /** Returns an address whose socket has been closed. */
    InetSocketAddress nobody() throws IOException {
        DatagramChannel gone = bound();
        InetSocketAddress address = (InetSocketAddress) gone.getLocalAddress();
        gone.close();
        return address;
    }

    /** Returns a datagram of the given length, which differs from those of other lengths. */
    static ByteBuffer datagram(int bytes) {
        ByteBuffer made = ByteBuffer.allocate(bytes);
        while (made.hasRemaining()) {
            made.put((byte) (bytes + made.position()));
        }
        return made.flip();
    }

    /** Sends a datagram as a whole, as a blocking channel does. */
    static void send(DatagramChannel from, ByteBuffer datagram, DatagramChannel to) throws IOException {
        int bytes = datagram.remaining();
        assertThat(from.send(datagram, to.getLocalAddress())).isEqualTo(bytes);
        assertThat(datagram.hasRemaining()).isFalse();
    }

    @Override
    public void close() throws IOException {
        for (DatagramChannel each : opened) {
            each.close();
        }
    }
}
