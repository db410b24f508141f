package io.rdma4j.transport;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;

/**
 * Whether the packets of a connection come from its peer: from its address, and from the UDP port that it has. Counts those
 * that only somebody sends who guesses, and tells when there are many.
 */
final class PeerCheck {
    /** No port: the next packet in sequence tells it. */
    private static final int UNKNOWN = 0;

    /** Guessed packets of one second that are worth telling. */
    static final int ALARM_PACKETS = 10_000;

    private static final long ALARM_NANOS = 1_000_000_000;

    /** PSNs that a packet may be off without having been guessed: more than a peer ever has under way. */
    private static final int NEAR_PSNS = 1 << 16;

    private final QueuePairCounters counters;
    private final QueuePairMachine.Events events;
    private long secondBeganNanos;
    private int guessed;
    private SourcePortCheck check = SourcePortCheck.COUNT;
    private int port = UNKNOWN;

    PeerCheck(QueuePairCounters counters, QueuePairMachine.Events events) {
        this.counters = counters;
        this.events = events;
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
    boolean isFromPeer(long nowNanos, Packet packet, QueuePairMachine.Peer peer) {
        Frame frame = packet.frame();
        if (frame.sourceLow != peer.remoteLow()
                || frame.sourceHigh != peer.remoteHigh()
                || frame.destinationLow != peer.localLow()
                || frame.destinationHigh != peer.localHigh()) {
            counters.badSource++;
            noteGuess(nowNanos);
            return false;
        }
        return frame.sourcePort == port || isPortAllowed(nowNanos, frame.sourcePort);
    }

    private boolean isPortAllowed(long nowNanos, int sourcePort) {
        if (port == UNKNOWN) {
            return true;
        }
        if (check == SourcePortCheck.ENFORCE) {
            counters.badSourcePort++;
            noteGuess(nowNanos);
            return false;
        }
        if (check == SourcePortCheck.COUNT) {
            counters.changedSourcePort++;
        }
        port = sourcePort;
        return true;
    }

    /** Whether a PSN that is so many behind or ahead of the one that is due was guessed; that is counted. */
    boolean isOutOfWindow(long nowNanos, int distance) {
        boolean isFar = distance > NEAR_PSNS || distance < -NEAR_PSNS;
        if (isFar) {
            counters.farPsns++;
            noteGuess(nowNanos);
        }
        return isFar;
    }

    private void noteGuess(long nowNanos) {
        if (nowNanos - secondBeganNanos >= ALARM_NANOS) {
            secondBeganNanos = nowNanos;
            guessed = 0;
        }
        if (++guessed == ALARM_PACKETS) {
            counters.guessingAlarms++;
            events.onAsyncEvent(QueuePairEvent.SPOOFING_SUSPECTED);
        }
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
