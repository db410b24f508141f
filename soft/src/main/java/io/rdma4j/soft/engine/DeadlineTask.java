package io.rdma4j.soft.engine;

/** Something that wants to be called at a time. Belongs to one {@link DeadlineQueue}, driven under the engine lock. */
public abstract class DeadlineTask {
    /** When to call; {@link Long#MAX_VALUE} for never. */
    long deadlineNanos = Long.MAX_VALUE;

    /** Order in the heap; at most {@link #deadlineNanos}. */
    long keyNanos;

    /** Place in the heap, or -1. */
    int index = -1;

    /** Creates something that waits for nothing yet. */
    protected DeadlineTask() {}

    /** Called under the engine lock when the deadline has come; it is not set any more then. */
    protected abstract void onDeadline(long nowNanos);
}
