package io.rdma4j.soft.device;

import io.rdma4j.transport.Completion;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.spi.CompletionWriter;
import io.rdma4j.verbs.spi.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * A ring of completions between producers and the threads that poll. Its table starts small and doubles when it is full, since
 * most queues never reach their capacity. Allocates nothing else.
 *
 * <p>There is one producer at a time unless {@link #expectManyProducers} was called.
 */
final class CompletionRing {
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(CompletionRing.class, "head", long.class);
            TAIL = lookup.findVarHandle(CompletionRing.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int HAS_IMMEDIATE = 1;
    private static final int HAS_INVALIDATED_KEY = 2;
    private static final int HAS_ROUTE_HEADER = 4;
    private static final int HAS_IPV4_HEADER = 8;

    /** The packet types that drivers of network cards write into the service level field. */
    private static final int IPV6_PACKET = 1;

    private static final int IPV4_PACKET = 2;

    /** The initial number of slots. */
    private static final int INITIAL_ENTRIES = 16;

    /** The slots of the completions, by columns. Replaced to change the size. */
    private static final class Table {
        private final int mask;
        private final long[] ids;
        private final long[] byteLengths;
        private final int[] queuePairNumbers;
        private final int[] immediates;
        private final CompletionOpcode[] opcodes;

        /** Status in bits 0 to 7, flags in bits 8 and up. */
        private final int[] kinds;

        private final int[] sources;
        private final long[] timestamps;

        Table(int entries) {
            int size = powerOfTwo(entries);
            mask = size - 1;
            ids = new long[size];
            byteLengths = new long[size];
            queuePairNumbers = new int[size];
            immediates = new int[size];
            kinds = new int[size];
            sources = new int[size];
            timestamps = new long[size];
            opcodes = new CompletionOpcode[size];
            Arrays.fill(opcodes, CompletionOpcode.SEND);
        }

        void copy(Table from, long at, long to) {
            int old = (int) at & from.mask;
            int i = (int) to & mask;
            ids[i] = from.ids[old];
            byteLengths[i] = from.byteLengths[old];
            queuePairNumbers[i] = from.queuePairNumbers[old];
            immediates[i] = from.immediates[old];
            opcodes[i] = from.opcodes[old];
            kinds[i] = from.kinds[old];
            sources[i] = from.sources[old];
            timestamps[i] = from.timestamps[old];
        }
    }

    private final SpinLock consumers = new SpinLock();
    private final SpinLock producers = new SpinLock();

    /** True if several threads add at the same time. Changes once, while no thread adds. */
    private boolean hasManyProducers;

    @SuppressWarnings("UnusedVariable") // accessed through HEAD
    private long head;

    @SuppressWarnings("UnusedVariable") // accessed through TAIL
    private long tail;

    /** The maximum number of completions, a power of two. Changes like {@link #table}. */
    private volatile int capacity;

    /**
     * Replaced by {@link #resize}, which excludes the producers and the consumers, and by the producer, which excludes the
     * consumers.
     */
    private volatile Table table;

    CompletionRing(int entries) {
        capacity = powerOfTwo(entries);
        table = new Table(Math.min(capacity, INITIAL_ENTRIES));
    }

    private static int powerOfTwo(int entries) {
        return Integer.highestOneBit(Math.max(entries, 2) - 1) << 1;
    }

    int capacity() {
        return capacity;
    }

    /** Allows several threads to add at the same time. No thread may add during the call. */
    void expectManyProducers() {
        hasManyProducers = true;
    }

    /**
     * Changes the capacity to {@code entries} and keeps the completions. Called by the only producer, or concurrently
     * with several.
     *
     * @return false if the ring holds more completions than that
     */
    boolean resize(int entries) {
        producers.lock();
        consumers.lock();
        try {
            long from = (long) HEAD.getOpaque(this);
            long to = (long) TAIL.getOpaque(this);
            if (to - from > entries) {
                return false;
            }
            capacity = powerOfTwo(entries);
            replaceTable(Math.clamp(to - from, Math.min(capacity, INITIAL_ENTRIES), capacity), from, to);
            return true;
        } finally {
            consumers.unlock();
            producers.unlock();
        }
    }

    /** Replaces the table by one with space for a number of completions. No thread uses the table meanwhile. */
    private Table replaceTable(int entries, long from, long to) {
        Table replaced = new Table(entries);
        for (long at = from; at < to; at++) {
            replaced.copy(table, at, at);
        }
        table = replaced;
        return replaced;
    }

    /** Doubles the table. Called by the only producer. */
    private Table grow(Table full, long to) {
        consumers.lock();
        try {
            return replaceTable(2 * (full.mask + 1), (long) HEAD.getOpaque(this), to);
        } finally {
            consumers.unlock();
        }
    }

    /** Returns the number of completions. */
    long size() {
        return (long) TAIL.getVolatile(this) - (long) HEAD.getVolatile(this);
    }

    /** Adds a completion; returns false if the ring is full, or there is no memory for it to grow. */
    boolean add(Completion completion, long nowNanos) {
        if (!hasManyProducers) {
            return append(completion, nowNanos);
        }
        producers.lock();
        try {
            return append(completion, nowNanos);
        } finally {
            producers.unlock();
        }
    }

    private boolean append(Completion completion, long nowNanos) {
        Table t = table;
        long at = (long) TAIL.getOpaque(this);
        if (at - (long) HEAD.getAcquire(this) > t.mask) {
            if (t.mask + 1 >= capacity) {
                return false;
            }
            try {
                t = grow(t, at);
            } catch (OutOfMemoryError e) {
                return false;
            }
        }
        int i = (int) at & t.mask;
        t.ids[i] = completion.workRequestId;
        t.byteLengths[i] = completion.byteLength;
        t.queuePairNumbers[i] = completion.queuePairNumber;
        t.immediates[i] = completion.hasInvalidatedKey ? completion.invalidatedKey : completion.immediate;
        int flags = (completion.hasImmediate ? HAS_IMMEDIATE : 0)
                | (completion.hasInvalidatedKey ? HAS_INVALIDATED_KEY : 0)
                | (completion.hasRouteHeader ? HAS_ROUTE_HEADER : 0)
                | (completion.hasIpv4Header ? HAS_IPV4_HEADER : 0);
        t.kinds[i] = completion.status.code() | flags << 8;
        t.opcodes[i] = opcode(completion);
        t.sources[i] = completion.sourceQueuePair;
        t.timestamps[i] = nowNanos;
        TAIL.setRelease(this, at + 1);
        return true;
    }

    private static CompletionOpcode opcode(Completion completion) {
        if (completion.isReceive) {
            return completion.isReceiveOfWrite
                    ? CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE
                    : CompletionOpcode.RECEIVE;
        }
        return opcode(completion.opcode);
    }

    private static CompletionOpcode opcode(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE -> CompletionOpcode.SEND;
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> CompletionOpcode.RDMA_WRITE;
            case RDMA_READ -> CompletionOpcode.RDMA_READ;
            case COMPARE_AND_SWAP -> CompletionOpcode.COMPARE_AND_SWAP;
            case FETCH_AND_ADD -> CompletionOpcode.FETCH_AND_ADD;
            case FLUSH -> CompletionOpcode.FLUSH;
            case ATOMIC_WRITE -> CompletionOpcode.ATOMIC_WRITE;
            case BIND_MEMORY_WINDOW -> CompletionOpcode.BIND_MEMORY_WINDOW;
            case LOCAL_INVALIDATE -> CompletionOpcode.LOCAL_INVALIDATE;
        };
    }

    /** Removes the completions of a queue pair, which adds none during the call. */
    void remove(int queuePairNumber) {
        consumers.lock();
        try {
            Table t = table;
            long from = (long) HEAD.getOpaque(this);
            long kept = (long) TAIL.getAcquire(this);
            for (long at = kept - 1; at >= from; at--) {
                if (t.queuePairNumbers[(int) at & t.mask] != queuePairNumber) {
                    t.copy(t, at, --kept);
                }
            }
            HEAD.setRelease(this, kept);
        } finally {
            consumers.unlock();
        }
    }

    /** Removes all completions. */
    void clear() {
        consumers.lock();
        try {
            HEAD.setRelease(this, (long) TAIL.getAcquire(this));
        } finally {
            consumers.unlock();
        }
    }

    /** Removes completions into an array, up to its length; returns their number. */
    int poll(WorkCompletion[] completions) {
        if ((long) TAIL.getVolatile(this) == (long) HEAD.getOpaque(this)) {
            return 0;
        }
        consumers.lock();
        try {
            Table t = table;
            long from = (long) HEAD.getOpaque(this);
            int count = (int) Math.min((long) TAIL.getAcquire(this) - from, completions.length);
            for (int n = 0; n < count; n++) {
                write(completions[n], t, (int) (from + n) & t.mask);
            }
            HEAD.setRelease(this, from + count);
            return count;
        } finally {
            consumers.unlock();
        }
    }

    private static void write(WorkCompletion completion, Table t, int i) {
        int kind = t.kinds[i];
        int flags = kind >>> 8;
        CompletionStatus status = CompletionStatus.ofCode(kind & 0xff);
        CompletionWriter.start(completion, t.ids[i], status, t.opcodes[i], t.queuePairNumbers[i]);
        CompletionWriter.data(
                completion,
                t.byteLengths[i],
                (flags & HAS_IMMEDIATE) != 0,
                (flags & HAS_INVALIDATED_KEY) != 0,
                t.immediates[i]);
        CompletionWriter.timestamp(completion, t.timestamps[i]);
        if ((flags & HAS_ROUTE_HEADER) != 0) {
            CompletionWriter.source(
                    completion, t.sources[i], true, (flags & HAS_IPV4_HEADER) != 0 ? IPV4_PACKET : IPV6_PACKET);
        }
    }
}
