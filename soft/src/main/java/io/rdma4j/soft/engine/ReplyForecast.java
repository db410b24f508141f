package io.rdma4j.soft.engine;

/**
 * Forecasts whether the application replies to the messages that a duty cycle has received. Their acknowledgements may then wait for
 * the reply, to be sent in one burst with it (decision 056). Used under the engine lock.
 *
 * <p>An application that replied last time is expected to reply again. Without a reply the acknowledgement is sent before the
 * application gets the completion: the process may end next, and the peer's message was received.
 */
final class ReplyForecast {
    private boolean isDeferred;
    private boolean hasPosted;
    private boolean isReplyExpected;

    /** Notes that a work request was posted. */
    void onPost() {
        hasPosted = true;
    }

    /** Notes that a duty cycle starts: what the application did after the last one with input is now known. */
    void onCycle() {
        if (isDeferred) {
            isReplyExpected = hasPosted;
            isDeferred = false;
        }
    }

    /** Returns whether the acknowledgements of what was just received may wait for the next post or cycle. */
    boolean mayDefer() {
        isDeferred = true;
        hasPosted = false;
        return isReplyExpected;
    }
}
