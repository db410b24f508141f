package io.rdma4j.verbs;

/**
 * One of several work requests could not be posted; those before it are. C: {@code bad_wr} of {@code ibv_post_send}, {@code
 * ibv_post_recv} and {@code ibv_post_srq_recv}.
 */
public final class PartialPostException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int posted;

    /**
     * Creates an exception.
     *
     * @param posted how many requests were posted, which is the index of the one that could not be
     * @param cause why that one could not be
     */
    public PartialPostException(int posted, RdmaException cause) {
        super(
                cause.operation(),
                cause.errno(),
                "work request " + posted + " of several, those before it are posted: " + cause.getMessage(),
                "",
                cause);
        this.posted = posted;
    }

    /** How many requests were posted: the index of the first that was not. */
    public int posted() {
        return posted;
    }
}
