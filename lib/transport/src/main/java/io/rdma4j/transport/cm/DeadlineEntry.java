package io.rdma4j.transport.cm;

/** An entry of a {@link DeadlineHeap}. */
abstract class DeadlineEntry {
    /** Time when {@link #onDeadline} is due; {@link Long#MAX_VALUE} for never. Maintained by the heap. */
    long deadlineNanos = Long.MAX_VALUE;

    /** Index in the heap; -1 while there is no deadline. Maintained by the heap. */
    int heapIndex = -1;

    /** Called when the deadline has passed. Must reschedule or cancel the deadline. */
    abstract void onDeadline(long nowNanos);
}
