package io.rdma4j.soft.engine;

/**
 * Forecasts whether the application replies to the messages that a duty cycle has received. Their acknowledgements may then wait for
 * the reply, to be sent in one burst with it (decision 056). Used under the engine lock.
 *
 * <p>An application that replied last time is expected to reply again. If no reply is expected, the acknowledgement is sent
 * before the application gets the completion: the process may exit next, but has received the peer's message.
 */
final class ReplyForecast {
    /** True if the current cycle has completed a receive of the application. */
    private boolean hasMessage;

    /** True from such a cycle until the next one. */
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

    /** Notes that a duty cycle starts: it is now known whether the application has replied to the last message. */
    void onCycle() {
        hasMessage = false;
        if (isAwaitingReply) {
            isReplyExpected = hasPosted;
            isAwaitingReply = false;
        }
    }

    /** Returns whether the acknowledgements of the cycle's input may wait for the next post or cycle. */
    boolean mayDefer() {
        if (!hasMessage) {
            return true; // the application cannot know of anything new
        }
        isAwaitingReply = true;
        hasPosted = false;
        return isReplyExpected;
    }
}
