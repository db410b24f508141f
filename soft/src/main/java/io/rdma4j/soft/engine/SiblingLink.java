package io.rdma4j.soft.engine;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;

/**
 * A UDP link that sends straight to the other processes of its own address. The frames stay as they are: their ICRC is over
 * UDP port 4791, and who takes them puts that in again.
 */
final class SiblingLink extends ForwardingLink {
    private final AddressSiblings siblings;

    SiblingLink(Link udp, AddressSiblings siblings) {
        super(udp);
        this.siblings = siblings;
    }

    @Override
    public void send(SendBurst burst) {
        int port = siblings.portOf(burst);
        if (port == 0) {
            inner.send(burst);
        } else {
            burst.destinationPort(port);
            inner.send(burst);
            burst.destinationPort(Frame.UDP_PORT);
        }
    }
}
