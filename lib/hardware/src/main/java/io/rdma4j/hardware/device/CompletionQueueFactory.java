package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.VerbsStructures.CompletionQueueCreation;
import io.rdma4j.verbs.abi.VerbsStructures.CompletionQueueFields;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Creates a completion queue, and keeps its channel open meanwhile. */
final class CompletionQueueFactory {
    private final HardwareContext context;
    private final CompletionQueueInitAttributes attributes;
    private final @Nullable HardwareCompletionChannel channel;

    /**
     * Prepares the creation of a queue.
     *
     * @throws RdmaException {@code EINVAL} if the channel belongs to another device
     */
    CompletionQueueFactory(HardwareContext context, CompletionQueueInitAttributes attributes) {
        this.context = context;
        this.attributes = attributes;
        CompletionChannel given = attributes.channel();
        if (given != null && !(given instanceof HardwareCompletionChannel own && own.context() == context)) {
            throw new RdmaException("ibv_create_cq", Errno.EINVAL, "the completion channel is of another device", "");
        }
        channel = (HardwareCompletionChannel) given;
    }

    /**
     * Creates the queue.
     *
     * @param clock the device's clock if the queue must have its timestamps, otherwise null
     */
    HardwareCompletionQueue create(@Nullable DeviceClock clock) {
        long pointer = context.handle().enter("ibv_create_cq", context.device());
        try (Call call = new Call()) {
            HardwareCompletionChannel events = channel;
            long eventsAddress = events == null ? 0 : events.handle().enter("ibv_create_cq", events);
            try {
                return clock == null
                        ? createOrdinary(call, pointer, eventsAddress)
                        : createClocked(call, pointer, eventsAddress, clock);
            } finally {
                if (events != null) {
                    events.handle().exit();
                }
            }
        } finally {
            context.handle().exit();
        }
    }

    private HardwareCompletionQueue createOrdinary(Call call, long pointer, long channelAddress) {
        long queue = call.create(
                Function.CREATE_COMPLETION_QUEUE,
                details(),
                pointer,
                attributes.entries(),
                0,
                channelAddress,
                attributes.completionVector());
        return call.useOrDestroy(queue, Function.DESTROY_COMPLETION_QUEUE, () -> {
            Layouts.requireCompletionQueue(queue, pointer, attributes.entries());
            return new HardwareCompletionQueue(context, queue, attributes, channel);
        });
    }

    private HardwareCompletionQueue createClocked(Call call, long pointer, long channelAddress, DeviceClock clock) {
        MemorySegment fields = call.allocate(CompletionQueueCreation.BYTES);
        fields.set(JAVA_INT, CompletionQueueCreation.ENTRIES, attributes.entries());
        fields.set(JAVA_LONG, CompletionQueueCreation.CHANNEL, channelAddress);
        fields.set(JAVA_INT, CompletionQueueCreation.COMPLETION_VECTOR, attributes.completionVector());
        fields.set(JAVA_LONG, CompletionQueueCreation.FIELDS, Flags.COMPLETION_FIELDS | Flags.COMPLETION_TIMESTAMP);
        MemorySegment create = context.function(ExtendedContext.CREATE_COMPLETION_QUEUE);
        long queue = call.created("ibv_create_cq_ex", details(), call.result(create, pointer, fields.address()));
        return call.useOrDestroy(queue, Function.DESTROY_COMPLETION_QUEUE, () -> {
            Layouts.requireCompletionQueue(queue, pointer, attributes.entries());
            long functions = queue + CompletionQueueFields.MUTEX + context.mutexBytes();
            Layouts.requirePollFunctions(functions);
            return new ClockedCompletionQueue(context, queue, functions, attributes, channel, clock);
        });
    }

    private String details() {
        return attributes.entries() + " entries, completion vector " + attributes.completionVector() + " of "
                + context.device();
    }
}
