package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * The messages of ibv_xsrq_pingpong: the server begins with each client, and every message is answered. All but the last
 * one to a peer are not signaled.
 */
final class XsrqLoop {
    /** Names another number of milliseconds that nothing may come, as for the tools of librdmacm. */
    static final String PATIENCE_PROPERTY = "rdma4j.tools.patience";

    private static final long DEFAULT_MILLIS = 10_000;
    private static final Duration GLANCE = Duration.ofSeconds(1);

    private final PingpongCalls calls;
    private final XsrqOptions options;
    private final XsrqResources resources;
    private final List<XsrqDestination> remote;
    private final List<XsrqPeer> peers;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final SendWorkRequest send = new SendWorkRequest();
    private final WorkCompletion[] finished;

    /** Messages posted for each peer. */
    private final int[] posted;

    /** How long nothing may come between messages until something must be wrong; C's tool would wait for ever. */
    private final Duration patience = Duration.ofMillis(Long.getLong(PATIENCE_PROPERTY, DEFAULT_MILLIS));

    private int received;
    private int sendsDone;
    private int events;
    private long lastNanos;
    private long lookNanos;

    /**
     * Prepares.
     *
     * @param remote where the peers are
     * @param peers the way to ask whether they still are
     */
    XsrqLoop(
            PingpongCalls calls,
            XsrqOptions options,
            XsrqResources resources,
            List<XsrqDestination> remote,
            List<XsrqPeer> peers) {
        this.calls = calls;
        this.options = options;
        this.resources = resources;
        this.remote = remote;
        this.peers = peers;
        finished = WorkCompletion.array(options.clients());
        posted = new int[options.clients()];
    }

    /** All messages. */
    void run() throws PingpongFailure {
        lastNanos = System.nanoTime();
        lookNanos = lastNanos;
        try {
            for (int i = 0; i < options.clients() && !options.isClient(); i++) {
                postSend(i);
            }
            CompletionChannel channel = resources.channel();
            while (received < options.messages()) {
                if (channel != null) {
                    awaitEvent(channel);
                }
                if (takeReceives() == 0) {
                    takeSends();
                    checkSilence();
                }
            }
            while (sendsDone < options.clients()) {
                if (takeSends() == 0) {
                    checkSilence();
                }
            }
        } catch (RdmaException e) {
            throw calls.failure("Error polling cq -1", e.getMessage());
        } finally {
            resources.receiveCompletions().acknowledgeEvents(events);
        }
    }

    private void awaitEvent(CompletionChannel channel) {
        if (channel.await(GLANCE) != null) {
            events++;
            resources.receiveCompletions().requestNotification(false);
        }
    }

    /** Takes all that have come; how many. */
    private int takeReceives() throws PingpongFailure {
        int total = 0;
        for (int count = resources.receiveCompletions().poll(finished);
                count > 0;
                count = resources.receiveCompletions().poll(finished)) {
            for (int i = 0; i < count; i++) {
                check(finished[i], resources.targets());
                postReceive();
                received++;
                int index = index(finished[i].queuePairNumber());
                if (posted[index] < options.tests()) {
                    postSend(index);
                }
            }
            total += count;
            lastNanos = System.nanoTime();
        }
        return total;
    }

    private int takeSends() throws PingpongFailure {
        int count = resources.sendCompletions().poll(finished);
        for (int i = 0; i < count; i++) {
            check(finished[i], resources.initiators());
        }
        sendsDone += count;
        return count;
    }

    /**
     * Ends the run if a work request has failed.
     *
     * @param queuePairs those of which one had the work request
     */
    private void check(WorkCompletion completion, List<QueuePair> queuePairs) throws PingpongFailure {
        if (!completion.isSuccess()) {
            CompletionStatus status = completion.status();
            String reason = queuePairs.stream()
                    .filter(each -> each.number() == completion.queuePairNumber())
                    .findFirst()
                    .map(each -> each.explain(status))
                    .orElse(status.text());
            throw calls.failure(
                    "Work completion error " + status.code(),
                    status + " (" + reason
                            + String.format(Locale.ROOT, "), queue pair 0x%06x", completion.queuePairNumber())
                            + ". Has the peer gone? Do both sides use the same -n and -s?");
        }
    }

    /** Posts one more receive. */
    void postReceive() throws PingpongFailure {
        receive.reset(0).into(resources.region());
        calls.step("Failed to post receive to SRQ", () -> resources.receives().postReceive(receive));
    }

    /**
     * Posts the next message to a peer, over its own connection. C's goes over the connections of all peers in turn, which
     * a target finds only if the peers' processes have one domain.
     */
    private void postSend(int index) {
        send.reset(index)
                .from(resources.region())
                .toSharedReceiveQueue(remote.get(index).sharedReceiveQueue());
        if (++posted[index] >= options.tests()) {
            send.signaled();
        }
        resources.initiators().get(index).postSend(send);
    }

    /** The peer whose message came to a target. */
    private int index(int queuePairNumber) {
        for (int i = 0; i < posted.length && posted.length > 1; i++) {
            if (resources.targets().get(i).number() == queuePairNumber) {
                return i;
            }
        }
        if (posted.length > 1) {
            calls.environment().err().println(String.format(Locale.ROOT, "Unable to find qp %x", queuePairNumber));
        }
        return 0;
    }

    /**
     * Ends the run if nobody is there any more, or nothing has come for long. A client waits for its first message as long
     * as the server waits for other clients.
     */
    private void checkSilence() throws PingpongFailure {
        long now = System.nanoTime();
        if (now - lookNanos < GLANCE.toNanos()) {
            Thread.onSpinWait();
            return;
        }
        lookNanos = now;
        boolean isWaiting = options.isClient() && received == 0;
        String reason = !isWaiting && now - lastNanos > patience.toNanos()
                ? "nothing came for " + patience.toSeconds() + " s"
                : null;
        for (XsrqPeer peer : peers) {
            reason = peer.isGone() ? "the peer has gone" : reason;
        }
        if (reason != null) {
            throw calls.failure(
                    String.format(Locale.ROOT, "%d of %d messages received", received, options.messages()),
                    reason + ". Do both sides use the same -n and -s?");
        }
    }
}
