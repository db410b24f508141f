package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.system.DescriptorHandler;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.abi.VerbsStructures.AsyncEventFields;
import io.rdma4j.verbs.spi.AsyncEventQueue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reads the asynchronous events of an open device into its queue. It acknowledges each event to libibverbs immediately,
 * so that a call to destroy the event's source does not block in C. The queue tracks the application's
 * acknowledgements. Thread safe.
 */
final class AsyncEventReader implements DescriptorHandler {
    private final HardwareContext context;
    private final AsyncEventQueue queue;
    private boolean closed;

    AsyncEventReader(HardwareContext context, AsyncEventQueue queue) {
        this.context = context;
        this.queue = queue;
    }

    @Override
    public synchronized void onReadable() {
        if (closed) {
            return;
        }
        try (Call call = new Call()) {
            MemorySegment event = call.allocate(AsyncEventFields.BYTES);
            while ((int) call.result(Function.GET_ASYNC_EVENT, context.pointer(), event.address()) == 0) {
                add(event);
                long _ = call.result(Function.ACKNOWLEDGE_ASYNC_EVENT, event.address());
            }
        }
    }

    private void add(MemorySegment event) {
        int code = event.get(ValueLayout.JAVA_INT, AsyncEventFields.TYPE);
        long element = event.get(ValueLayout.JAVA_LONG, AsyncEventFields.ELEMENT);
        for (AsyncEvent.Type type : AsyncEvent.Type.values()) {
            if (type.code() == code) {
                Object source = hasObject(type) ? context.objectAt(element) : context;
                if (source != null) {
                    // The element is a union of a 32-bit port number and a pointer to an object.
                    int port = isOfPort(type) ? event.get(ValueLayout.JAVA_INT, AsyncEventFields.ELEMENT) : 0;
                    queue.add(new AsyncEvent(type, source, port));
                }
            }
        }
    }

    private static boolean isOfPort(AsyncEvent.Type type) {
        return !hasObject(type) && type != AsyncEvent.Type.DEVICE_FATAL;
    }

    private static boolean hasObject(AsyncEvent.Type type) {
        return switch (type) {
            case DEVICE_FATAL,
                    PORT_ACTIVE,
                    PORT_ERROR,
                    LOCAL_IDENTIFIER_CHANGE,
                    PARTITION_KEY_CHANGE,
                    SUBNET_MANAGER_CHANGE,
                    CLIENT_REREGISTER,
                    GID_CHANGE -> false;
            case COMPLETION_QUEUE_ERROR,
                    QUEUE_PAIR_FATAL,
                    QUEUE_PAIR_REQUEST_ERROR,
                    QUEUE_PAIR_ACCESS_ERROR,
                    COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED,
                    SHARED_RECEIVE_QUEUE_ERROR,
                    SHARED_RECEIVE_QUEUE_LIMIT_REACHED,
                    QUEUE_PAIR_LAST_WORK_REQUEST_REACHED -> true;
        };
    }

    /** Stops reading, because the device is being closed. */
    synchronized void close() {
        closed = true;
    }
}
