package io.rdma4j.sharing;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;

/** A UDP link that sends directly to the other processes of its address. */
class SiblingLink extends ForwardingLink {
    private final AddressSiblings siblings;

    SiblingLink(Link udp, AddressSiblings siblings) {
        super(udp);
        this.siblings = siblings;
    }

    @Override
    public final void send(SendBurst burst) {
        siblings.send(inner, burst);
    }
}
