package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.wire.Frame;

/** What other processes of a local address send to the UDP port of this process' own, without the port's owner. */
final class DirectFrames {
    private final Link udp;
    private final AddressSiblings siblings;

    DirectFrames(Link udp, AddressSiblings siblings) {
        this.udp = udp;
        this.siblings = siblings;
    }

    /** Takes what has arrived; returns how many frames. */
    int take(ReceiveBurst burst) {
        int count = udp.poll(burst);
        for (int i = 0; i < count; i++) {
            Frame frame = burst.frame(i);
            frame.destinationPort = Frame.UDP_PORT;
            if (!siblings.isHere(frame.sourceHigh, frame.sourceLow)) {
                frame.length = 0; // this port is for processes of this address alone; counted as too short
            }
        }
        return count;
    }
}
