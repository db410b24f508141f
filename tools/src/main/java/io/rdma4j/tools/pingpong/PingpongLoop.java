package io.rdma4j.tools.pingpong;

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
import org.jspecify.annotations.Nullable;

/** The messages to and fro: whoever has received and whose own message has gone out sends the next. */
final class PingpongLoop {
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    /** How long nothing may happen until the peer is taken for gone; C's tool would wait for ever. */
    private static final long SILENCE_NANOS = Duration.ofSeconds(10).toNanos();

    private final PingpongCalls calls;
    private final PingpongTransport transport;
    private final List<QueuePair> queuePairs;
    private final CompletionQueue completions;
    private final @Nullable CompletionChannel channel;
    private final MemoryRegion region;
    private final PingpongOptions options;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final SendWorkRequest send = new SendWorkRequest();

    /** Room for all that can be finished at a time: what is left behind would bring no event. */
    private final WorkCompletion[] finished;

    private final long patienceNanos;
    private int posted;
    private int sent;
    private int received;

    /** What is still to come of each queue pair before it sends again. */
    private final int[] pending;

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
        finished = WorkCompletion.array(2 * pending.length);
        this.completions = completions;
        this.channel = channel;
        this.region = region;
        this.options = options;
        // A nanosecond for each 1000 bits would be 1 Tbit/s; a slow peer gets a second for each megabyte.
        this.patienceNanos = SILENCE_NANOS + options.sizeBytes() * 1000;
    }

    /** Time of the exchanges. */
    long elapsedNanos() {
        return elapsedNanos;
    }

    /** Fills the receive queue up. */
    void postReceives() throws PingpongFailure {
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

    private void postSend(int index) throws PingpongFailure {
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

    /** All exchanges. */
    void run() throws PingpongFailure {
        Arrays.fill(pending, RECEIVE);
        for (int i = 0; i < pending.length && options.isClient(); i++) {
            postSend(i);
        }
        int events = 0;
        long begin = System.nanoTime();
        long lastNanos = begin;
        try {
            while (Integer.compareUnsigned(received, options.exchanges()) < 0
                    || Integer.compareUnsigned(sent, options.exchanges()) < 0) {
                if (channel != null && awaitEvent(channel)) {
                    events++;
                }
                int count = completions.poll(finished);
                for (int i = 0; i < count; i++) {
                    take(finished[i]);
                }
                if (count > 0) {
                    lastNanos = System.nanoTime();
                } else if (System.nanoTime() - lastNanos > patienceNanos) {
                    throw calls.failure(
                            "No completion for " + patienceNanos / 1_000_000_000 + " seconds",
                            (transport.isReliable()
                                            ? "the peer has gone or waits, too; "
                                            : "a message was lost, or the peer has gone; ")
                                    + received + " messages received and " + sent
                                    + " sent of " + options.exchanges() + ". Do both sides use the same -n and -s?");
                }
            }
            elapsedNanos = System.nanoTime() - begin;
        } catch (RdmaException e) {
            throw calls.failure("poll CQ failed -1", e.getMessage());
        } finally {
            completions.acknowledgeEvents(events);
        }
    }

    /** Sleeps until the next event, and arms the queue for the one after; false if none came for long. */
    private boolean awaitEvent(CompletionChannel events) {
        boolean came = events.await(Duration.ofNanos(patienceNanos)) != null;
        completions.requestNotification(false);
        return came;
    }

    private void take(WorkCompletion completion) throws PingpongFailure {
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
        }
        int index = index(completion.queuePairNumber());
        pending[index] &= ~(int) completion.id();
        if (pending[index] == 0 && Integer.compareUnsigned(sent, options.exchanges()) < 0) {
            postSend(index);
        }
    }

    private int index(int queuePairNumber) throws PingpongFailure {
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
                        + "; has the peer ended, after fewer exchanges (-n)?";
            case REMOTE_INVALID_REQUEST_ERROR, LOCAL_LENGTH_ERROR ->
                "the message does not fit the other side's buffer; do both sides use the same -s?";
            default ->
                completion.status() + String.format(Locale.ROOT, ", queue pair 0x%06x", completion.queuePairNumber());
        };
    }
}
