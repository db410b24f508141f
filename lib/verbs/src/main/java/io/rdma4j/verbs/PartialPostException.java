package io.rdma4j.verbs;

/**
 * Thrown when one of several work requests cannot be posted. The requests before it are posted. C: {@code bad_wr} of
 * {@code ibv_post_send}, {@code ibv_post_recv} and {@code ibv_post_srq_recv}.
 */
public final class PartialPostException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int posted;

    /**
     * Creates an exception; for providers.
     *
     * @param posted number of posted requests, which is the index of the request that could not be posted
     * @param cause the reason why it could not be posted
     */
    public PartialPostException(int posted, RdmaException cause) {
        super(
                cause.operation(),
                cause.errno(),
                "work request " + posted + " of several; the requests before it are posted: " + cause.getMessage(),
                "",
                cause);
        this.posted = posted;
    }

    /** Returns the number of posted requests, which is the index of the first request that was not posted. */
    public int posted() {
        return posted;
    }
}
