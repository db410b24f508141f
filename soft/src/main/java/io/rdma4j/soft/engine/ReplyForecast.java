package io.rdma4j.soft.engine;

/**
 * Forecasts whether the application replies to the messages that a duty cycle has received. Their acknowledgements may then wait for
 * the reply, to be sent in one burst with it (decision 056). Used under the engine lock.
 *
 * <p>An application that replied last time is expected to reply again. Without a reply the acknowledgement is sent before the
 * application gets the completion: the process may end next, and the peer's message was received.
 */
final class ReplyForecast {
    /** True if the present cycle has received a message that the application is told of. */
    private boolean hasMessage;

    /** True from a cycle with such a message until the next cycle. */
    private boolean isAwaitingReply;

    private boolean hasPosted;
    private boolean isReplyExpected;

    /** Notes that a receive has completed. */
    void onMessage() {
        hasMessage = true;
    }

    /** Notes that a work request was posted. */
    void onPost() {
        hasPosted = true;
    }

    /** Notes that a duty cycle starts: what the application did after the last message is now known. */
    void onCycle() {
        hasMessage = false;
        if (isAwaitingReply) {
            isReplyExpected = hasPosted;
            isAwaitingReply = false;
        }
    }

    /** Returns whether the acknowledgements of what the cycle has received may wait for the next post or cycle. */
    boolean mayDefer() {
        if (!hasMessage) {
            return true; // the application cannot know of anything new
        }
        isAwaitingReply = true;
        hasPosted = false;
        return isReplyExpected;
    }
}
