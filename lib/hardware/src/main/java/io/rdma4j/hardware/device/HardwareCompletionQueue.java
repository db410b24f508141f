package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Downcalls;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.system.DescriptorPoller;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.Completion;
import io.rdma4j.verbs.abi.VerbsStructures.CompletionQueueFields;
import io.rdma4j.verbs.abi.VerbsStructures.Context;
import io.rdma4j.verbs.spi.CompletionWriter;
import io.rdma4j.verbs.spi.SpinLock;
import io.rdma4j.verbs.spi.StackReserve;
import io.rdma4j.verbs.spi.UnacknowledgedEvents;
import io.rdma4j.verbs.wait.Signal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A completion queue of a device. One call of the driver's poll function takes up to 16 completions. */
class HardwareCompletionQueue extends HardwareObject implements CompletionQueue {
    private static final int BATCH = 16;
    private static final CompletionOpcode[] OPCODES = opcodes();
    private static final long UNSIGNED = 0xffff_ffffL;
    private static final LongSupplier SYSTEM_CLOCK = System::nanoTime;

    private final @Nullable Object userContext;
    private final @Nullable HardwareCompletionChannel channel;
    private final int completionVector;
    private final MemorySegment pollFunction;
    private final MemorySegment notifyFunction;
    private final MemorySegment batch = Arena.ofAuto().allocate((long) BATCH * Completion.BYTES, 8);
    private final SpinLock lock = new SpinLock();
    private final UnacknowledgedEvents unacknowledged = new UnacknowledgedEvents();
    private final Signal acknowledged = new Signal();

    HardwareCompletionQueue(
            HardwareContext context,
            long address,
            CompletionQueueInitAttributes attributes,
            @Nullable HardwareCompletionChannel channel) {
        super(context, Kind.COMPLETION_QUEUE, address);
        this.userContext = attributes.context();
        this.channel = channel;
        this.completionVector = attributes.completionVector();
        pollFunction = context.function(Context.POLL);
        notifyFunction = context.function(Context.REQUEST_NOTIFICATION);
    }

    private static CompletionOpcode[] opcodes() {
        CompletionOpcode[] byCode = new CompletionOpcode[256];
        java.util.Arrays.fill(byCode, CompletionOpcode.SEND);
        for (CompletionOpcode opcode : CompletionOpcode.values()) {
            byCode[opcode.code()] = opcode;
        }
        return byCode;
    }

    @Override
    public int capacity() {
        long queue = handle().enter("ibv_create_cq", this);
        try {
            return Native.intAt(queue + CompletionQueueFields.CAPACITY);
        } finally {
            handle().exit();
        }
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    @Override
    public int completionVector() {
        return completionVector;
    }

    @Override
    public final int poll(WorkCompletion[] completions) {
        StackReserve.require();
        lock.lock();
        try {
            requireOpen("ibv_poll_cq");
            return fill(completions);
        } finally {
            lock.unlock();
        }
    }

    /** Takes completions. The caller has locked the queue, which is open. */
    int fill(WorkCompletion[] completions) {
        int filled = 0;
        int count;
        int wanted;
        do {
            wanted = Math.min(BATCH, completions.length - filled);
            count = Downcalls.data(pollFunction, pointer(), wanted, batch.address());
            for (int i = 0; i < count; i++) {
                read((long) i * Completion.BYTES, completions[filled++]);
            }
        } while (count == wanted && filled < completions.length);
        if (count < 0 && filled == 0) {
            throw overrun();
        }
        return filled; // the next call reports an error that followed a completion
    }

    final RdmaException overrun() {
        return new RdmaException("ibv_poll_cq", Errno.EIO, this + " has overrun or failed", "");
    }

    private void requireOpen(String operation) {
        if (!handle().isOpen()) {
            throw Handle.closed(operation, this);
        }
    }

    private void read(long at, WorkCompletion target) {
        MemorySegment from = batch;
        int flags = from.get(ValueLayout.JAVA_INT, at + Completion.FLAGS);
        CompletionWriter.start(
                target,
                from.get(ValueLayout.JAVA_LONG, at + Completion.ID),
                CompletionStatus.ofCode(from.get(ValueLayout.JAVA_INT, at + Completion.STATUS)),
                opcode(from.get(ValueLayout.JAVA_INT, at + Completion.OPCODE)),
                from.get(ValueLayout.JAVA_INT, at + Completion.QUEUE_PAIR));
        writeData(
                target,
                from.get(ValueLayout.JAVA_INT, at + Completion.LENGTH),
                flags,
                from.get(ValueLayout.JAVA_INT, at + Completion.IMMEDIATE));
        if (target.opcode().isReceive()) {
            CompletionWriter.source(
                    target,
                    from.get(ValueLayout.JAVA_INT, at + Completion.SOURCE_QUEUE_PAIR),
                    (flags & Flags.COMPLETION_GLOBAL_ROUTE) != 0,
                    from.get(ValueLayout.JAVA_BYTE, at + Completion.SERVICE_LEVEL));
        }
        CompletionWriter.timestampOfFirstReading(target, SYSTEM_CLOCK);
    }

    static CompletionOpcode opcode(int code) {
        return OPCODES[code & 0xff];
    }

    /**
     * Writes the data of a completion.
     *
     * @param word immediate data in network byte order, or the key that the peer has invalidated
     */
    static void writeData(WorkCompletion target, int length, int flags, int word) {
        boolean hasImmediate = (flags & Flags.COMPLETION_IMMEDIATE) != 0;
        CompletionWriter.data(
                target,
                length & UNSIGNED,
                hasImmediate,
                (flags & Flags.COMPLETION_INVALIDATED) != 0,
                hasImmediate ? Integer.reverseBytes(word) : word);
    }

    @Override
    public void resize(int entries) {
        try (Call call = new Call()) {
            check(call, Function.RESIZE_COMPLETION_QUEUE, entries + " entries", entries);
        }
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        if (channel == null) {
            throw new RdmaException(
                    "ibv_req_notify_cq",
                    Errno.EINVAL,
                    "the completion queue has no channel",
                    "Specify a channel when you create it");
        }
        StackReserve.require();
        lock.lock();
        int error;
        try {
            requireOpen("ibv_req_notify_cq");
            error = Downcalls.data(notifyFunction, pointer(), solicitedOnly ? 1 : 0, 0);
        } finally {
            lock.unlock();
        }
        if (error != 0) {
            throw new RdmaException("ibv_req_notify_cq", Errno.of(Math.abs(error)), toString(), "");
        }
    }

    // ---- events ----

    void onEventTaken() {
        unacknowledged.add();
    }

    @Override
    public void acknowledgeEvents(int count) {
        long _ = handle().enter(UnacknowledgedEvents.OPERATION, this);
        try {
            unacknowledged.acknowledge(count);
            acknowledgeToLibrary(count);
        } finally {
            handle().exit();
        }
        acknowledged.raise();
    }

    /** Acknowledges events to libibverbs, which also counts them. The caller has entered the queue, or destroys it. */
    void acknowledgeToLibrary(int count) {
        try (Call call = new Call()) {
            long _ = call.result(Function.ACKNOWLEDGE_COMPLETION_EVENTS, pointer(), count);
        }
    }

    @Override
    public void close() {
        boolean isAcknowledged = acknowledged.await(
                DescriptorPoller.ofProcess(),
                () -> unacknowledged.count() == 0 || context().isClosing(),
                Long.MAX_VALUE);
        if (!isAcknowledged) {
            throw new InterruptedRdmaException("ibv_destroy_cq", this + " has unacknowledged events", "");
        }
        super.close();
    }

    /** Ends a wait of {@link #close} because the device is being closed. */
    void onContextClosing() {
        acknowledged.raise();
    }

    @Override
    void destroy(Call call, long address) {
        lock.lock(); // waits for a poll in progress
        lock.unlock();
        context().finishEvents(this);
        HardwareCompletionChannel events = channel;
        if (events == null) {
            destroy(call, Function.DESTROY_COMPLETION_QUEUE, address);
            return;
        }
        synchronized (events) {
            events.forget(this);
            acknowledgeToLibrary(unacknowledged.count());
            destroy(call, Function.DESTROY_COMPLETION_QUEUE, address);
        }
        events.signal().raise(); // threads may be waiting for this queue's events
    }

    @Override
    public String toString() {
        return "completion queue of " + context().device();
    }
}
