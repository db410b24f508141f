package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Downcalls;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedCompletionQueue;
import io.rdma4j.verbs.spi.CompletionWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue with timestamps of the device's clock: a {@code struct ibv_cq_ex}. The driver has a function for
 * each field of a completion.
 */
final class ClockedCompletionQueue extends HardwareCompletionQueue {
    /** {@code ENOENT}, which a driver returns if it has no completion. */
    private static final int NO_COMPLETION = 2;

    private static final int POLL_ATTRIBUTES_BYTES = 8;

    private final DeviceClock clock;
    private final MemorySegment pollAttributes = Arena.ofAuto().allocate(POLL_ATTRIBUTES_BYTES, Long.BYTES);
    private final long fields;
    private final MemorySegment start;
    private final MemorySegment next;
    private final MemorySegment end;
    private final MemorySegment readOpcode;
    private final MemorySegment readLength;
    private final MemorySegment readImmediate;
    private final MemorySegment readQueuePair;
    private final MemorySegment readSourceQueuePair;
    private final MemorySegment readFlags;
    private final MemorySegment readTimestamp;

    /**
     * Creates the queue.
     *
     * @param address the address of the queue
     * @param fields the address to which the offsets of {@link ExtendedCompletionQueue} are relative
     */
    ClockedCompletionQueue(
            HardwareContext context,
            long address,
            long fields,
            CompletionQueueInitAttributes attributes,
            @Nullable HardwareCompletionChannel channel,
            DeviceClock clock) {
        super(context, address, attributes, channel);
        this.clock = clock;
        this.fields = fields;
        start = Native.functionAt(fields + ExtendedCompletionQueue.START);
        next = Native.functionAt(fields + ExtendedCompletionQueue.NEXT);
        end = Native.functionAt(fields + ExtendedCompletionQueue.END);
        readOpcode = Native.functionAt(fields + ExtendedCompletionQueue.READ_OPCODE);
        readLength = Native.functionAt(fields + ExtendedCompletionQueue.READ_LENGTH);
        readImmediate = Native.functionAt(fields + ExtendedCompletionQueue.READ_IMMEDIATE);
        readQueuePair = Native.functionAt(fields + ExtendedCompletionQueue.READ_QUEUE_PAIR);
        readSourceQueuePair = Native.functionAt(fields + ExtendedCompletionQueue.READ_SOURCE_QUEUE_PAIR);
        readFlags = Native.functionAt(fields + ExtendedCompletionQueue.READ_FLAGS);
        readTimestamp = Native.functionAt(fields + ExtendedCompletionQueue.READ_TIMESTAMP);
    }

    @Override
    public boolean usesDeviceClock() {
        return true;
    }

    @Override
    public long wallClockNanos(long timestampNanos) {
        return clock.epochNanos(timestampNanos);
    }

    @Override
    int fill(WorkCompletion[] completions) {
        long queue = pointer();
        int error = completions.length == 0 ? NO_COMPLETION : Downcalls.data(start, queue, pollAttributes.address(), 0);
        int filled = 0;
        if (error == 0) {
            try {
                do {
                    read(queue, completions[filled++]);
                    // After the array is full, advancing would lose a completion.
                    error = filled < completions.length ? Downcalls.data(next, queue, 0, 0) : NO_COMPLETION;
                } while (error == 0);
            } finally {
                int _ = Downcalls.data(end, queue, 0, 0);
            }
        }
        if (error != NO_COMPLETION && filled == 0) {
            throw overrun();
        }
        return filled; // the next call reports an error that followed a completion
    }

    private void read(long queue, WorkCompletion target) {
        CompletionStatus status = CompletionStatus.ofCode(Native.intAt(fields + ExtendedCompletionQueue.STATUS));
        long id = Native.longAt(fields + ExtendedCompletionQueue.ID);
        int queuePair = Downcalls.data(readQueuePair, queue, 0, 0);
        if (status != CompletionStatus.SUCCESS) { // nothing else is valid
            CompletionWriter.start(target, id, status, CompletionOpcode.SEND, queuePair);
            CompletionWriter.data(target, 0, false, false, 0);
            CompletionWriter.timestamp(target, 0);
            return;
        }
        CompletionWriter.start(target, id, status, opcode(Downcalls.data(readOpcode, queue, 0, 0)), queuePair);
        int flags = Downcalls.data(readFlags, queue, 0, 0);
        boolean hasWord = (flags & (Flags.COMPLETION_IMMEDIATE | Flags.COMPLETION_INVALIDATED)) != 0;
        int word = hasWord ? Downcalls.data(readImmediate, queue, 0, 0) : 0;
        writeData(target, Downcalls.data(readLength, queue, 0, 0), flags, word);
        if (target.opcode().isReceive()) {
            boolean hasGlobalRoute = (flags & Flags.COMPLETION_GLOBAL_ROUTE) != 0;
            CompletionWriter.source(target, Downcalls.data(readSourceQueuePair, queue, 0, 0), hasGlobalRoute, 0);
        }
        CompletionWriter.timestamp(target, clock.nanos(Downcalls.word(readTimestamp, queue)));
    }
}
