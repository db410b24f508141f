package io.rdma4j.transport;

/**
 * Checks the message sequence numbers of responses (C9-148). A responder counts completed messages, and counts a READ
 * when it starts to respond. An attacker therefore has to guess this number in addition to an outstanding PSN
 * (decision 030).
 *
 * <p>The first response that completes a message shows whether the peer counts correctly. All responses of a peer that
 * does not are accepted.
 */
final class MsnValidator {
    private static final int MASK = 0xff_ffff;

    private enum Counting {
        UNKNOWN,
        CORRECT,
        INCORRECT
    }

    private int done;
    private int begun;
    private Counting peer = Counting.UNKNOWN;

    /** Resets both counts for a new connection. */
    void reset() {
        done = 0;
        begun = 0;
        peer = Counting.UNKNOWN;
    }

    /** Adds messages that have been started. */
    void onBegun(int messages) {
        begun += messages;
    }

    /** Adds messages that have been completed. */
    void onDone(int messages) {
        done += messages;
    }

    /** Returns whether a response with this 24-bit number is acceptable. */
    boolean isPlausible(int number) {
        return peer != Counting.CORRECT || isInRange(number);
    }

    /** Updates the verdict on the peer with the number of an accepted response. */
    void observe(int number) {
        if (peer == Counting.UNKNOWN && done > 0) {
            peer = isInRange(number) ? Counting.CORRECT : Counting.INCORRECT;
        }
    }

    private boolean isInRange(int number) {
        return (number - done & MASK) <= begun - done;
    }
}
