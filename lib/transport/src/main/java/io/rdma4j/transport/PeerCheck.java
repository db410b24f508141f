package io.rdma4j.transport;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;

/**
 * Checks that packets come from the peer's address and UDP port. Counts packets that can only come from an attacker who
 * guesses, and raises an alarm if there are many.
 */
final class PeerCheck {
    /** The port is not known; the next packet in sequence determines it. */
    private static final int UNKNOWN = 0;

    /** Guessed packets within a second that raise an alarm. */
    static final int ALARM_PACKETS = 10_000;

    private static final long ALARM_NANOS = 1_000_000_000;

    /** Distance up to which a PSN is not treated as guessed: more than a peer ever has in flight. */
    private static final int NEAR_PSNS = 1 << 16;

    private final QueuePairCounters counters;
    private final QueuePairMachine.Events events;
    private long secondStartNanos;
    private int guessed;
    private SourcePortCheck check = SourcePortCheck.COUNT;
    private int port = UNKNOWN;

    PeerCheck(QueuePairCounters counters, QueuePairMachine.Events events) {
        this.counters = counters;
        this.events = events;
    }

    /** Sets the port check and clears the port. */
    void restart(SourcePortCheck newCheck) {
        check = newCheck;
        port = UNKNOWN;
    }

    /** Clears the port, because the path to the peer may change. */
    void restart() {
        port = UNKNOWN;
    }

    /** Returns whether a packet has the addresses, and if enforced the UDP port, of the connection. */
    boolean isFromPeer(long nowNanos, Packet packet, QueuePairMachine.Peer peer) {
        Frame frame = packet.frame();
        if (frame.sourceLow != peer.remoteLow()
                || frame.sourceHigh != peer.remoteHigh()
                || frame.destinationLow != peer.localLow()
                || frame.destinationHigh != peer.localHigh()) {
            counters.badSource++;
            countGuess(nowNanos);
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
            countGuess(nowNanos);
            return false;
        }
        if (check == SourcePortCheck.COUNT) {
            counters.changedSourcePort++;
        }
        port = sourcePort;
        return true;
    }

    /** Returns whether a PSN at this distance from the expected one was guessed, and counts it if so. */
    boolean isOutOfWindow(long nowNanos, int distance) {
        boolean isFar = distance > NEAR_PSNS || distance < -NEAR_PSNS;
        if (isFar) {
            counters.outOfWindowPsns++;
            countGuess(nowNanos);
        }
        return isFar;
    }

    private void countGuess(long nowNanos) {
        if (nowNanos - secondStartNanos >= ALARM_NANOS) {
            secondStartNanos = nowNanos;
            guessed = 0;
        }
        if (++guessed == ALARM_PACKETS) {
            counters.spoofingAlarms++;
            events.onAsyncEvent(QueuePairEvent.SPOOFING_SUSPECTED);
        }
    }

    /** Returns whether the next packet in sequence is to be passed to {@link #learn}. */
    boolean isLearning() {
        return port == UNKNOWN;
    }

    /** Learns the port from a packet in sequence, which only the peer can send without guessing. */
    void learn(Packet packet) {
        port = packet.frame().sourcePort;
    }
}
