package io.rdma4j.link.internal;

import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.wire.Frame;
import java.net.InetSocketAddress;

/** The source address of the frames that a link sends, used to complete the frames of a {@link SendBurst}. */
public final class SourceAddress {
    private final long high;
    private final long low;
    private final int port;
    private final Link link;

    /** Reads the source address of a link. */
    public SourceAddress(Link link) {
        InetSocketAddress local = link.localAddress();
        high = GidAddresses.high(local.getAddress());
        low = GidAddresses.low(local.getAddress());
        port = local.getPort();
        this.link = link;
    }

    /** Returns frame {@code index} of a burst with all known fields of its headers set. */
    public Frame complete(SendBurst burst, int index) {
        Frame frame = burst.frame(index);
        frame.sourceHigh = high;
        frame.sourceLow = low;
        frame.sourcePort = burst.sourcePort(port);
        frame.identification = link.capabilities().identificationCountsSegments() ? index : 0;
        return frame;
    }
}
