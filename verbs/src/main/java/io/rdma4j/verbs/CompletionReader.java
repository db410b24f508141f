package io.rdma4j.verbs;

/**
 * Reads finished work requests one by one, without an array and without allocating. C: {@code struct ibv_cq_ex}. Not
 * thread safe: one for each thread that polls; several may read the same queue.
 *
 * <pre>{@code
 * if (reader.start()) {
 *     do {
 *         handle(reader.completion(), reader.wallClockNanos());
 *     } while (reader.next());
 *     reader.end();
 * }
 * }</pre>
 *
 * <p>{@code ibv_wc_read_opcode} and its like are the accessors of {@link #completion}. Leaving off before {@link #next} has
 * said that there are no more loses nothing: the rest stays in the queue.
 */
public final class CompletionReader {
    private final CompletionQueue queue;
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private boolean isReading;

    CompletionReader(CompletionQueue queue) {
        this.queue = queue;
    }

    /**
     * Begins to read; drives the device if nothing is there. C: {@code ibv_start_poll}.
     *
     * @return whether there is a completion; if not, nothing is to be ended (C: {@code ENOENT})
     * @throws RdmaException {@code EIO} after an overrun of the queue
     * @throws IllegalStateException before {@link #end} of the reading before
     */
    public boolean start() {
        if (isReading) {
            throw new IllegalStateException("reading was started and not ended");
        }
        isReading = queue.poll(one) > 0;
        return isReading;
    }

    /**
     * Goes on to the next completion. C: {@code ibv_next_poll}.
     *
     * @return whether there is one; if not, the one before stays readable until {@link #end}
     * @throws IllegalStateException outside of {@link #start} and {@link #end}
     */
    public boolean next() {
        requireReading();
        return queue.poll(one) > 0;
    }

    /**
     * Ends reading. C: {@code ibv_end_poll}.
     *
     * @throws IllegalStateException if it was not started
     */
    public void end() {
        requireReading();
        isReading = false;
    }

    /**
     * The completion at hand, in a holder that {@link #next} fills anew.
     *
     * @throws IllegalStateException outside of {@link #start} and {@link #end}
     */
    public WorkCompletion completion() {
        requireReading();
        return one[0];
    }

    /**
     * When the work request at hand ended, in nanoseconds since 1970 by the system's clock. C: {@code
     * ibv_wc_read_completion_wallclock_ns}; {@code ibv_wc_read_completion_ts} is
     * {@link WorkCompletion#timestampNanos}.
     *
     * @throws IllegalStateException outside of {@link #start} and {@link #end}
     */
    public long wallClockNanos() {
        requireReading();
        return queue.context().wallClockNanos(one[0].timestampNanos());
    }

    private void requireReading() {
        if (!isReading) {
            throw new IllegalStateException("reading was not started, or there was nothing to read");
        }
    }
}
