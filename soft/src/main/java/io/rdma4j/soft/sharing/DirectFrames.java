package io.rdma4j.soft.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.wire.Frame;

/** Receives the frames that other processes of a local address send directly to this process' own UDP port. */
final class DirectFrames {
    private final Link udp;
    private final AddressSiblings siblings;

    DirectFrames(Link udp, AddressSiblings siblings) {
        this.udp = udp;
        this.siblings = siblings;
    }

    /** Receives a burst; returns the number of frames. */
    int poll(ReceiveBurst burst) {
        int count = udp.poll(burst);
        for (int i = 0; i < count; i++) {
            Frame frame = burst.frame(i);
            frame.destinationPort = Frame.UDP_PORT;
            if (!siblings.isThisAddress(frame.sourceHigh, frame.sourceLow)) {
                frame.length = 0; // this port is for processes of this address only; counted as too short
            }
        }
        return count;
    }
}
