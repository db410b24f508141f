package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of a new completion queue. C: {@code struct ibv_cq_init_attr_ex}. Immutable.
 *
 * <p>Programs start with {@link #of}, and change the defaults with the methods {@code with…}.
 *
 * @param entries minimum capacity, from 1
 * @param context arbitrary object of the application, or null
 * @param channel channel for the queue's events, or null if the queue is only polled
 * @param completionVector completion vector, from 0, less than {@link DeviceContext#completionVectors}
 * @param deviceClock true for timestamps of the device's clock, if the device stamps completions ({@code
 *     IBV_WC_EX_WITH_COMPLETION_TIMESTAMP}); {@link CompletionQueue#usesDeviceClock} returns whether it does
 */
public record CompletionQueueInitAttributes(
        int entries,
        @Nullable Object context,
        @Nullable CompletionChannel channel,
        int completionVector,
        boolean deviceClock) {
    /** Returns the parameters of a queue that is only polled, at completion vector 0. */
    public static CompletionQueueInitAttributes of(int entries) {
        return new CompletionQueueInitAttributes(entries, null, null, 0, false);
    }

    /** Returns a copy with an arbitrary object of the application. */
    public CompletionQueueInitAttributes withContext(@Nullable Object value) {
        return new CompletionQueueInitAttributes(entries, value, channel, completionVector, deviceClock);
    }

    /** Returns a copy with a channel for events, or null for a queue that is only polled. */
    public CompletionQueueInitAttributes withChannel(@Nullable CompletionChannel value) {
        return new CompletionQueueInitAttributes(entries, context, value, completionVector, deviceClock);
    }

    /** Returns a copy with a completion vector. */
    public CompletionQueueInitAttributes withCompletionVector(int value) {
        return new CompletionQueueInitAttributes(entries, context, channel, value, deviceClock);
    }

    /** Returns a copy with timestamps of the device's clock, if the device stamps completions, or without them. */
    public CompletionQueueInitAttributes withDeviceClock(boolean value) {
        return new CompletionQueueInitAttributes(entries, context, channel, completionVector, value);
    }
}
