package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.wire.Frame;

/** Receives the frames that other processes of a local address send directly to this process' own UDP port. */
final class DirectFrames {
    private final Link udp;
    private final AddressSiblings siblings;
    private final boolean ofFormerOwner;

    DirectFrames(Link udp, AddressSiblings siblings) {
        this.udp = udp;
        this.siblings = siblings;
        ofFormerOwner = udp.localAddress().getPort() == Frame.UDP_PORT;
    }

    /**
     * Receives a burst; returns the number of frames. A process that was the owner of UDP port 4791 until it was
     * replaced may still send from that port. The frames that arrive at that port are then dropped: they were for the
     * owner, and the new owner may have received their retransmissions meanwhile.
     */
    int poll(ReceiveBurst burst) {
        int count = udp.poll(burst);
        if (ofFormerOwner) {
            burst.clear();
            return 0;
        }
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
