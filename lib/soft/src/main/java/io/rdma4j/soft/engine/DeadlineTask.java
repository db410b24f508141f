package io.rdma4j.soft.engine;

/** A task that runs at a deadline. Belongs to one {@link DeadlineQueue} and is used under the engine lock. */
public abstract class DeadlineTask {
    /** The deadline, or {@link Long#MAX_VALUE} for none. */
    long deadlineNanos = Long.MAX_VALUE;

    /** The key in the heap; at most {@link #deadlineNanos}. */
    long keyNanos;

    /** The index in the heap, or -1. */
    int index = -1;

    /** Creates a task without a deadline. */
    protected DeadlineTask() {}

    /**
     * Runs the task when its deadline has passed. Called under the engine lock, after the deadline was cleared. A task that
     * throws runs again soon.
     */
    protected abstract void onDeadline(long nowNanos);
}
