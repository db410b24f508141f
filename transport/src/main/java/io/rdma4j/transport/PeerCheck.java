package io.rdma4j.transport;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;

/** Whether the packets of a connection come from its peer: from its address, and from the UDP port that it has. */
final class PeerCheck {
    /** No port: the next packet in sequence tells it. */
    private static final int UNKNOWN = 0;

    private final QueuePairCounters counters;
    private SourcePortCheck check = SourcePortCheck.COUNT;
    private int port = UNKNOWN;

    PeerCheck(QueuePairCounters counters) {
        this.counters = counters;
    }

    /** Sets what is done about another port, and forgets the one that is known. */
    void restart(SourcePortCheck newCheck) {
        check = newCheck;
        port = UNKNOWN;
    }

    /** Forgets the port: the peer may be reached in another way from now on. */
    void restart() {
        port = UNKNOWN;
    }

    /** Whether a packet's addresses are those of the connection. */
    boolean isFromPeer(Packet packet, QueuePairMachine.Peer peer) {
        Frame frame = packet.frame();
        if (frame.sourceLow != peer.remoteLow()
                || frame.sourceHigh != peer.remoteHigh()
                || frame.destinationLow != peer.localLow()
                || frame.destinationHigh != peer.localHigh()) {
            counters.badSource++;
            return false;
        }
        return frame.sourcePort == port || isPortAllowed(frame.sourcePort);
    }

    private boolean isPortAllowed(int sourcePort) {
        if (port == UNKNOWN) {
            return true;
        }
        if (check == SourcePortCheck.ENFORCE) {
            counters.badSourcePort++;
            return false;
        }
        if (check == SourcePortCheck.COUNT) {
            counters.changedSourcePort++;
        }
        port = sourcePort;
        return true;
    }

    /** Whether the next packet in sequence is to be shown to {@link #learn}. */
    boolean isLearning() {
        return port == UNKNOWN;
    }

    /** Takes the port of a packet that was in sequence, which only the peer can know without guessing. */
    void learn(Packet packet) {
        port = packet.frame().sourcePort;
    }
}
