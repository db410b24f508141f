package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.system.DescriptorHandler;
import io.rdma4j.hardware.system.DescriptorPoller;
import io.rdma4j.hardware.system.Linux;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.ChannelFields;
import io.rdma4j.verbs.spi.EventWait;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A completion channel: a descriptor, and the events that were read from it. Thread safe. */
final class HardwareCompletionChannel extends HardwareObject implements CompletionChannel, DescriptorHandler {
    private static final String GET_EVENT = "ibv_get_cq_event";

    private final int descriptor;
    private final Queue<HardwareCompletionQueue> events = new ConcurrentLinkedQueue<>();
    private final Signal signal = new Signal();
    private volatile boolean closed;

    /** The error of the descriptor after the removal of the device, or 0. */
    private volatile int failure;

    HardwareCompletionChannel(HardwareContext context, long address) {
        super(context, Kind.COMPLETION_CHANNEL, address);
        descriptor = Native.intAt(address + ChannelFields.DESCRIPTOR);
        Linux.setNonblocking(descriptor);
        DescriptorPoller.ofProcess().add(descriptor, this);
    }

    @Override
    public synchronized void onReadable() {
        if (closed || failure != 0) {
            return;
        }
        boolean hasChanged = false;
        try (Call call = new Call()) {
            MemorySegment results = call.allocate(16);
            long userContext = results.address() + 8;
            while ((int) call.result(Function.GET_COMPLETION_EVENT, pointer(), results.address(), userContext) == 0) {
                long queue = results.get(ValueLayout.JAVA_LONG, 0);
                if (context().objectAt(queue) instanceof HardwareCompletionQueue found) {
                    events.add(found);
                    hasChanged = true;
                }
            }
            if (call.errno() != Errno.EAGAIN.number()) {
                failure = call.errno();
                hasChanged = true;
            }
        }
        if (hasChanged) { // otherwise a waiter that polls would wake itself
            signal.raise();
        }
    }

    /**
     * Removes the pending events of a queue, and acknowledges them. The caller destroys the queue under the lock of
     * this channel, so that no further event of the queue is read.
     */
    void forget(HardwareCompletionQueue queue) {
        int count = 0;
        while (events.remove(queue)) {
            count++;
        }
        if (count > 0) {
            queue.acknowledgeToLibrary(count);
        }
    }

    @Override
    public CompletionQueue await() {
        return EventWait.take(GET_EVENT, this, this::poll);
    }

    @Override
    public @Nullable CompletionQueue await(Duration timeout) {
        return EventWait.take(GET_EVENT, this, this::poll, timeout);
    }

    @Override
    public @Nullable CompletionQueue poll() {
        if (closed) {
            throw new ClosedException(GET_EVENT, "the completion channel is closed", "");
        }
        HardwareCompletionQueue event = events.poll();
        if (event == null) {
            onReadable();
            event = events.poll();
        }
        if (event != null) {
            event.onEventTaken();
        } else if (failure != 0) {
            throw new RdmaException(
                    GET_EVENT,
                    Errno.of(failure),
                    context().device() + " has been removed or has failed",
                    "Close the device, list the devices again");
        }
        return event;
    }

    @Override
    public boolean isReady() {
        return !events.isEmpty() || closed || failure != 0;
    }

    @Override
    public Signal signal() {
        return signal;
    }

    @Override
    public WaitDriver waitDriver() {
        return DescriptorPoller.ofProcess();
    }

    @Override
    void destroy(Call call, long address) {
        synchronized (this) {
            DescriptorPoller.ofProcess().remove(descriptor);
            try {
                destroy(call, Function.DESTROY_CHANNEL, address);
            } catch (RdmaException busy) {
                DescriptorPoller.ofProcess().add(descriptor, this);
                throw busy;
            }
            closed = true;
        }
        signal.raise();
    }

    @Override
    public String toString() {
        return "completion channel of " + context().device();
    }
}
