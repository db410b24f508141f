package io.rdma4j.soft.sharing;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;

/**
 * A UDP link that sends directly to the other processes of its own address.
 *
 * <p>The frames are not modified. Their ICRC covers UDP port 4791, so the receiver sets the destination port back.
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
