package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkCapabilities;
import io.rdma4j.link.LinkStatistics;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A UDP link that sends straight to the other processes of its own address. The frames stay as they are: their ICRC is over
 * UDP port 4791, and who takes them puts that in again.
 */
final class NeighbourLink implements Link {
    private final Link udp;
    private final Neighbours neighbours;

    NeighbourLink(Link udp, Neighbours neighbours) {
        this.udp = udp;
        this.neighbours = neighbours;
    }

    @Override
    public LinkCapabilities capabilities() {
        return udp.capabilities();
    }

    @Override
    public InetSocketAddress localAddress() {
        return udp.localAddress();
    }

    @Override
    public void send(SendBurst burst) {
        int port = neighbours.portOf(burst);
        if (port == 0) {
            udp.send(burst);
        } else {
            burst.destinationPort(port);
            udp.send(burst);
            burst.destinationPort(Frame.UDP_PORT);
        }
    }

    @Override
    public int poll(ReceiveBurst burst) {
        return udp.poll(burst);
    }

    @Override
    public LinkStatistics statistics() {
        return udp.statistics();
    }

    @Override
    public void close() throws IOException {
        udp.close();
    }
}
