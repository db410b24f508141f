package io.rdma4j.sockets.io;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;

/**
 * The notifications of one completion queue: a completion channel that raises the signal of the endpoint. Not thread
 * safe except for {@link #driver}.
 */
final class QueueNotifications implements AutoCloseable {
    private final CompletionChannel channel;
    private boolean armed;

    /** Creates the channel of a queue. {@code changed} is raised when the queue has completions. */
    QueueNotifications(DeviceContext context, Signal changed) {
        channel = context.createCompletionChannel();
        channel.signal().add(changed::raise);
    }

    /** Returns the channel, for the creation of the queue. */
    CompletionChannel channel() {
        return channel;
    }

    /** Returns the driver that makes progress while a thread waits for the queue. */
    WaitDriver driver() {
        return channel.waitDriver();
    }

    /**
     * Requests a notification of the next completion. Completions before this call are not reported.
     *
     * @return true if this call requested it; false if it was requested before and no notification has arrived since
     */
    boolean arm(CompletionQueue queue) {
        if (armed) {
            return false;
        }
        queue.requestNotification(false);
        armed = true;
        return true;
    }

    /** Takes the notification, if there is one. Must be called before the queue is polled. */
    void take() {
        CompletionQueue reported = channel.poll();
        if (reported != null) {
            reported.acknowledgeEvents(1);
            armed = false;
        }
    }

    /** Closes the channel, after its queue. */
    @Override
    public void close() {
        channel.close();
    }
}
