package io.rdma4j.verbs;

/**
 * Reads work completions one at a time, without an array and without allocation. C: {@code struct ibv_cq_ex}. Not
 * thread safe: each polling thread needs a separate reader. Several readers may read the same queue.
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
 * <p>The accessors of {@link #completion} correspond to {@code ibv_wc_read_opcode} and similar functions. A program may
 * call {@link #end} before {@link #next} returns false: the remaining completions stay in the queue.
 */
public final class CompletionReader {
    private final CompletionQueue queue;
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private boolean isReading;

    CompletionReader(CompletionQueue queue) {
        this.queue = queue;
    }

    /**
     * Starts reading, and drives the device if the queue is empty. C: {@code ibv_start_poll}.
     *
     * @return true if a completion is available; after false, {@link #end} must not be called (C: {@code ENOENT})
     * @throws RdmaException {@code EIO} after an overrun of the queue
     * @throws IllegalStateException if reading was started and not ended
     */
    public boolean start() {
        if (isReading) {
            throw new IllegalStateException("reading was started and not ended");
        }
        isReading = queue.poll(one) > 0;
        return isReading;
    }

    /**
     * Advances to the next completion. C: {@code ibv_next_poll}.
     *
     * @return true if a completion is available; after false, the previous one stays readable until {@link #end}
     * @throws IllegalStateException if reading was not started, or was ended
     */
    public boolean next() {
        requireReading();
        return queue.poll(one) > 0;
    }

    /**
     * Ends reading. C: {@code ibv_end_poll}.
     *
     * @throws IllegalStateException if reading was not started
     */
    public void end() {
        requireReading();
        isReading = false;
    }

    /**
     * Returns the current completion, in a holder that {@link #next} overwrites.
     *
     * @throws IllegalStateException if reading was not started, or was ended
     */
    public WorkCompletion completion() {
        requireReading();
        return one[0];
    }

    /**
     * Returns the time of the current completion in nanoseconds since 1970, by the system's clock. C: {@code
     * ibv_wc_read_completion_wallclock_ns}; the counterpart of {@code ibv_wc_read_completion_ts} is
     * {@link WorkCompletion#timestampNanos}.
     *
     * @throws IllegalStateException if reading was not started, or was ended
     */
    public long wallClockNanos() {
        requireReading();
        return queue.wallClockNanos(one[0].timestampNanos());
    }

    private void requireReading() {
        if (!isReading) {
            throw new IllegalStateException("reading was not started, or there was nothing to read");
        }
    }
}
