package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The message loop of a ping-pong. A queue pair sends its next message when its previous one is complete and it has
 * received one.
 */
final class PingpongLoop {
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    /** The time without a completion after which the run fails. C's tool would wait indefinitely. */
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final PingpongCalls calls;
    private final PingpongTransport transport;
    private final List<QueuePair> queuePairs;
    private final CompletionQueue completions;
    private final @Nullable CompletionChannel channel;
    private final MemoryRegion region;
    private final PingpongOptions options;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final SendWorkRequest send = new SendWorkRequest();

    /**
     * The completions of one poll. It can hold all outstanding completions, since any left in the queue would raise no
     * event.
     */
    private final WorkCompletion[] batch;

    private final ReceiveTimeout timeout = new ReceiveTimeout(TIMEOUT);

    /** Prolongs the timeout by 1000 ns per byte: a slow peer gets a second for each megabyte. */
    private final long allowanceNanos;

    private int posted;
    private int sent;
    private int received;

    /**
     * The completions that each queue pair awaits before it sends again, as bits {@link #RECEIVE} and {@link #SEND}.
     */
    private final int[] pending;

    private final @Nullable CompletionIntervals intervals;
    private long elapsedNanos;

    PingpongLoop(
            PingpongCalls calls,
            PingpongTransport transport,
            List<QueuePair> queuePairs,
            CompletionQueue completions,
            @Nullable CompletionChannel channel,
            MemoryRegion region,
            PingpongOptions options) {
        this.calls = calls;
        this.transport = transport;
        this.queuePairs = queuePairs;
        pending = new int[queuePairs.size()];
        batch = WorkCompletion.array(2 * pending.length);
        this.completions = completions;
        this.channel = channel;
        this.region = region;
        this.options = options;
        allowanceNanos = options.sizeBytes() * 1000;
        intervals = options.timestamps() ? CompletionIntervals.of(completions) : null;
    }

    /** Returns the times between receives, if timestamps were requested. */
    Optional<CompletionIntervals> intervals() {
        return Optional.ofNullable(intervals);
    }

    /** Returns the duration of all exchanges. */
    long elapsedNanos() {
        return elapsedNanos;
    }

    /** Refills the receive queue. */
    void postReceives() throws ToolFailure {
        try {
            while (posted < options.receiveDepth()) {
                transport.postReceive(
                        queuePairs.getFirst(), receive.reset(RECEIVE).into(region));
                posted++;
            }
        } catch (RdmaException e) {
            throw calls.failure("Couldn't post receive (" + posted + ")", e.getMessage());
        }
    }

    private void postSend(int index) throws ToolFailure {
        try {
            send.reset(SEND)
                    .from(region, transport.headerBytes(), options.sizeBytes())
                    .signaled();
            transport.address(send);
            queuePairs.get(index).postSend(send);
            pending[index] = RECEIVE | SEND;
        } catch (RdmaException e) {
            throw calls.failure("Couldn't post send", e.getMessage());
        }
    }

    /** Runs all exchanges. */
    void run() throws ToolFailure {
        Arrays.fill(pending, RECEIVE);
        for (int i = 0; i < pending.length && options.isClient(); i++) {
            postSend(i);
        }
        int events = 0;
        long startNanos = System.nanoTime();
        timeout.restart();
        try {
            while (Integer.compareUnsigned(received, options.exchanges()) < 0
                    || Integer.compareUnsigned(sent, options.exchanges()) < 0) {
                if (channel != null && awaitEvent(channel)) {
                    events++;
                }
                int count = completions.poll(batch);
                for (int i = 0; i < count; i++) {
                    onCompletion(batch[i]);
                }
                if (count > 0) {
                    timeout.restart();
                } else if (timeout.isExpired(allowanceNanos)) {
                    throw calls.failure(
                            "No completion for " + (timeout.nanos() + allowanceNanos) / 1_000_000_000 + " seconds",
                            (transport.isReliable()
                                            ? "the peer has exited or is also waiting; "
                                            : "a message was lost, or the peer has exited; ")
                                    + received + " messages received and " + sent
                                    + " sent of " + options.exchanges() + ". Do both sides use the same -n and -s?");
                }
            }
            elapsedNanos = System.nanoTime() - startNanos;
        } catch (RdmaException e) {
            throw calls.failure("poll CQ failed -1", e.getMessage());
        } finally {
            completions.acknowledgeEvents(events);
        }
    }

    /** Waits for the next event and requests the one after it. Returns false if the wait times out. */
    private boolean awaitEvent(CompletionChannel events) {
        boolean hasEvent = events.await(Duration.ofNanos(timeout.nanos() + allowanceNanos)) != null;
        completions.requestNotification(false);
        return hasEvent;
    }

    private void onCompletion(WorkCompletion completion) throws ToolFailure {
        if (!completion.isSuccess()) {
            throw calls.failure(
                    "Failed status " + completion.status().text() + " ("
                            + completion.status().code() + ") for wr_id " + completion.id(),
                    explanation(completion));
        }
        if (completion.id() == SEND) {
            sent++;
        } else {
            posted--;
            if (posted <= pending.length) {
                postReceives();
            }
            received++;
            if (intervals != null) {
                intervals.add(completion);
            }
        }
        int index = index(completion.queuePairNumber());
        pending[index] &= ~(int) completion.id();
        if (pending[index] == 0 && Integer.compareUnsigned(sent, options.exchanges()) < 0) {
            postSend(index);
        }
    }

    private int index(int queuePairNumber) throws ToolFailure {
        for (int i = 0; i < pending.length; i++) {
            if (queuePairs.get(i).number() == queuePairNumber) {
                return i;
            }
        }
        throw calls.failure(
                String.format(Locale.ROOT, "Couldn't find QPN %06x", queuePairNumber), "a completion names it");
    }

    private String explanation(WorkCompletion completion) {
        return switch (completion.status()) {
            case RETRY_EXCEEDED_ERROR, RNR_RETRY_EXCEEDED_ERROR ->
                queuePairs.getFirst().explain(completion.status())
                        + "; has the peer exited after fewer exchanges (-n)?";
            case REMOTE_INVALID_REQUEST_ERROR, LOCAL_LENGTH_ERROR ->
                "the message does not fit the peer's buffer; do both sides use the same -s?";
            default ->
                completion.status() + String.format(Locale.ROOT, ", queue pair 0x%06x", completion.queuePairNumber());
        };
    }
}
