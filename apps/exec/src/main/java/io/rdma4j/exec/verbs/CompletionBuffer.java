package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.Completion;
import org.jspecify.annotations.Nullable;

/**
 * Polls completion queues for a C thread, and writes the completions into {@code struct ibv_wc}. Each thread has a
 * buffer, so that several threads can poll one queue without waiting for each other. Allocates memory only for the
 * first poll of each size.
 */
final class CompletionBuffer {
    /** The maximum number of completions that are taken at a time. */
    private static final int BATCH = 32;

    /** The fields after the flags: partition key, LID, service level, path bits. RoCE has only a service level. */
    private static final int REST = Completion.FLAGS + Integer.BYTES;

    private static final ThreadLocal<CompletionBuffer> OF_THREAD = new ThreadLocal<>();

    private final @Nullable WorkCompletion[] holders = new @Nullable WorkCompletion[BATCH];

    /** Arrays of the first holders, by length, because a poll may fill the whole array. */
    private final WorkCompletion[] @Nullable [] arrays = new WorkCompletion[BATCH + 1] @Nullable [];

    private CompletionBuffer() {}

    /** Returns the buffer of the current thread. */
    static CompletionBuffer ofThread() {
        CompletionBuffer buffer = OF_THREAD.get();
        if (buffer == null) {
            buffer = new CompletionBuffer();
            OF_THREAD.set(buffer);
        }
        return buffer;
    }

    /**
     * Polls a queue.
     *
     * @param wanted the maximum number of completions
     * @param to the address of an array of that many {@code struct ibv_wc}
     * @return the number of completions
     * @throws io.rdma4j.verbs.RdmaException like {@link CompletionQueue#poll}, if no completion was taken before
     */
    int poll(CompletionQueue queue, int wanted, long to) {
        int taken = 0;
        while (taken < wanted) {
            int length = Math.min(wanted - taken, BATCH);
            WorkCompletion[] array = array(length);
            int count = takeInto(array, queue, taken);
            for (int i = 0; i < count; i++) {
                write(array[i], to + (long) (taken + i) * Completion.BYTES);
            }
            taken += count;
            if (count < length) {
                break;
            }
        }
        return taken;
    }

    /** Polls a queue. After other completions were taken, leaves an error to the next poll: it would lose them. */
    private static int takeInto(WorkCompletion[] array, CompletionQueue queue, int takenBefore) {
        try {
            return queue.poll(array);
        } catch (RdmaException failure) {
            if (takenBefore == 0) {
                throw failure;
            }
            return 0;
        }
    }

    /** Polls one completion and returns its time in nanoseconds, or {@link Long#MIN_VALUE} if there is none. */
    long pollTimed(CompletionQueue queue, long to) {
        WorkCompletion[] array = array(1);
        if (queue.poll(array) == 0) {
            return Long.MIN_VALUE;
        }
        write(array[0], to);
        return array[0].timestampNanos();
    }

    private WorkCompletion[] array(int length) {
        WorkCompletion[] array = arrays[length];
        return array == null ? newArray(length) : array;
    }

    private WorkCompletion[] newArray(int length) {
        WorkCompletion[] array = new WorkCompletion[length];
        for (int i = 0; i < length; i++) {
            WorkCompletion holder = holders[i];
            if (holder == null) {
                holder = new WorkCompletion();
                holders[i] = holder;
            }
            array[i] = holder;
        }
        arrays[length] = array;
        return array;
    }

    private static void write(WorkCompletion from, long to) {
        int flags = from.hasGlobalRoute() ? Flags.COMPLETION_GLOBAL_ROUTE : 0;
        int word = 0;
        if (from.hasImmediate()) {
            flags |= Flags.COMPLETION_IMMEDIATE;
            word = Integer.reverseBytes(from.immediate());
        } else if (from.hasInvalidatedKey()) {
            flags |= Flags.COMPLETION_INVALIDATED;
            word = from.invalidatedKey();
        }
        Native.putLong(to + Completion.ID, from.id());
        Native.putInt(to + Completion.STATUS, from.status().code());
        Native.putInt(to + Completion.OPCODE, from.opcode().code());
        Native.putInt(to + Completion.VENDOR_ERROR, 0);
        Native.putInt(to + Completion.LENGTH, (int) from.byteLength());
        Native.putInt(to + Completion.IMMEDIATE, word);
        Native.putInt(to + Completion.QUEUE_PAIR, from.queuePairNumber());
        Native.putInt(to + Completion.SOURCE_QUEUE_PAIR, from.sourceQueuePairNumber());
        Native.putInt(to + Completion.FLAGS, flags);
        Native.putLong(to + REST, 0);
        Native.putByte(to + Completion.SERVICE_LEVEL, (byte) from.serviceLevel());
    }
}
