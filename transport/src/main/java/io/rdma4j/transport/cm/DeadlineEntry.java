package io.rdma4j.transport.cm;

/** Something with a deadline, as {@link DeadlineHeap} keeps it. */
abstract class DeadlineEntry {
    /** When {@link #onDeadline} is due; {@link Long#MAX_VALUE} for never. The heap's. */
    long deadlineNanos = Long.MAX_VALUE;

    /** Place in the heap of deadlines; -1 while it has no deadline. The heap's. */
    int heapIndex = -1;

    /** The deadline has come. It must be moved or taken back here. */
    abstract void onDeadline(long nowNanos);
}
