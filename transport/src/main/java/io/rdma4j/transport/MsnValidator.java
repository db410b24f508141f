package io.rdma4j.transport;

/**
 * Which message sequence numbers an answer can carry (C9-148): a responder counts the messages that it has completed, READs
 * when it begins to answer. So whoever makes up an answer has to guess this number, too, beside a PSN that is under way.
 *
 * <p>A peer that does not count as it should is told by the first answer that completes a message. From such a peer all
 * answers are taken.
 */
final class MsnValidator {
    private static final int MASK = 0xff_ffff;

    private enum Judgement {
        NONE,
        COUNTS,
        DOES_NOT_COUNT
    }

    private int done;
    private int begun;
    private Judgement peer = Judgement.NONE;

    /** Both sides begin anew. */
    void reset() {
        done = 0;
        begun = 0;
        peer = Judgement.NONE;
    }

    /** So many more may be under way. */
    void onBegun(int messages) {
        begun += messages;
    }

    /** So many are answered. */
    void onDone(int messages) {
        done += messages;
    }

    /** Whether an answer with this number, of 24 bits, is to be taken. */
    boolean isPlausible(int number) {
        return peer != Judgement.COUNTS || isPossible(number);
    }

    /** Notes the number of an answer that was taken. */
    void judge(int number) {
        if (peer == Judgement.NONE && done > 0) {
            peer = isPossible(number) ? Judgement.COUNTS : Judgement.DOES_NOT_COUNT;
        }
    }

    private boolean isPossible(int number) {
        return (number - done & MASK) <= begun - done;
    }
}
