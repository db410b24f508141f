package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Arguments;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

/** The calls for completion channels and queues. Each takes the address of its {@link Arguments}. Thread safe. */
public final class CompletionCalls {
    private CompletionCalls() {}

    private static OpenDevice device(long arguments) {
        return Handles.of(Arguments.number(arguments, 0), OpenDevice.class);
    }

    /** Creates a channel. C: {@code ibv_create_comp_channel}. */
    public static void createChannel(long arguments) {
        Arguments.set(arguments, 0, Handles.add(new Channel(device(arguments), Arguments.number(arguments, 1))));
    }

    /**
     * Takes an event of a channel, without waiting. C: {@code ibv_get_cq_event}.
     *
     * @return 0, or {@code EAGAIN} if there is none
     */
    public static int nextEvent(long arguments) {
        Channel channel = Handles.of(Arguments.number(arguments, 0), Channel.class);
        CompletionQueue queue = channel.channel().poll();
        channel.readiness().update();
        if (queue == null) {
            return Errno.EAGAIN.number();
        }
        Arguments.set(arguments, 0, DeviceCalls.pointer(queue.userContext()));
        return 0;
    }

    /** Creates a completion queue. C: {@code ibv_create_cq}. */
    public static void create(long arguments) {
        OpenDevice device = device(arguments);
        int channelHandle = Arguments.number(arguments, 2);
        @Nullable Channel channel = channelHandle == 0 ? null : Handles.of(channelHandle, Channel.class);
        CompletionQueue queue = device.context()
                .createCompletionQueue(new CompletionQueueInitAttributes(
                        Arguments.number(arguments, 1),
                        Arguments.get(arguments, 4),
                        channel == null ? null : channel.channel(),
                        Arguments.number(arguments, 3),
                        false));
        DataPathStubs.install();
        Arguments.set(arguments, 0, Handles.add(new Completions(device, queue, channel)));
        Arguments.set(arguments, 1, queue.capacity());
    }

    private static CompletionQueue queue(long arguments) {
        return Handles.of(Arguments.number(arguments, 0), Completions.class).queue();
    }

    /** Changes the capacity of a queue. C: {@code ibv_resize_cq}. */
    public static void resize(long arguments) {
        CompletionQueue queue = queue(arguments);
        queue.resize(Arguments.number(arguments, 1));
        Arguments.set(arguments, 1, queue.capacity());
    }

    /** Acknowledges events of a queue. C: {@code ibv_ack_cq_events}. */
    public static void acknowledge(long arguments) {
        queue(arguments).acknowledgeEvents(Arguments.number(arguments, 1));
    }
}
