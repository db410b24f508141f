package io.rdma4j.soft.engine;

/** A source of frames that an engine polls in addition to its ports. Used under the engine lock. */
public interface FrameSource {
    /** After this many cycles without input, threads that poll check a source less often. */
    int COLD_CYCLES = 512;

    /** A source without input. */
    FrameSource NONE = new FrameSource() {
        @Override
        public int receive(long nowNanos, boolean cold) {
            return 0;
        }

        @Override
        public long nextDeadlineNanos() {
            return Long.MAX_VALUE;
        }
    };

    /**
     * Receives pending frames, at most a burst from each link; returns the number of frames.
     *
     * @param cold true to include links that have been idle for {@link #COLD_CYCLES} cycles: each poll is a system call
     */
    int receive(long nowNanos, boolean cold);

    /** Returns the time at which {@link #receive} must be called even without input. */
    long nextDeadlineNanos();
}
