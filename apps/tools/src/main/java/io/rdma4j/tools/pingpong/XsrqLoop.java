package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * The message loop of ibv_xsrq_pingpong. The server sends to each client first, and each side answers a message with a
 * message. Only the last message to a peer is signaled.
 */
final class XsrqLoop {
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    private final PingpongCalls calls;
    private final XsrqOptions options;
    private final XsrqResources resources;
    private final List<XsrqDestination> remote;
    private final List<XsrqPeer> peers;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final SendWorkRequest send = new SendWorkRequest();
    private final WorkCompletion[] batch;

    /** The number of messages posted to each peer. */
    private final int[] posted;

    /** The time without a message after which the run fails. C's tool would wait indefinitely. */
    private final ReceiveTimeout timeout = new ReceiveTimeout(PingpongLoop.TIMEOUT);

    private long received;
    private int sendsCompleted;
    private int events;
    private long checkedNanos;

    /**
     * Creates the loop.
     *
     * @param remote the addresses of the peers
     * @param peers the TCP connections to the peers
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
        batch = WorkCompletion.array(options.clients());
        posted = new int[options.clients()];
    }

    /** Exchanges all messages. */
    void run() throws ToolFailure {
        timeout.restart();
        checkedNanos = System.nanoTime();
        try {
            for (int i = 0; i < options.clients() && !options.isClient(); i++) {
                postSend(i);
            }
            CompletionChannel channel = resources.channel();
            while (received < options.messages()) {
                if (channel != null) {
                    awaitEvent(channel);
                }
                if (pollReceives() == 0) {
                    pollSends();
                    checkProgress();
                }
            }
            while (sendsCompleted < options.clients()) {
                if (pollSends() == 0) {
                    checkProgress();
                }
            }
        } catch (RdmaException e) {
            throw calls.failure("Error polling cq -1", e.getMessage());
        } finally {
            resources.receiveCompletions().acknowledgeEvents(events);
        }
    }

    private void awaitEvent(CompletionChannel channel) {
        if (channel.await(CHECK_INTERVAL) != null) {
            events++;
            resources.receiveCompletions().requestNotification(false);
        }
    }

    /** Processes all received messages and returns their number. */
    private int pollReceives() throws ToolFailure {
        int total = 0;
        for (int count = resources.receiveCompletions().poll(batch);
                count > 0;
                count = resources.receiveCompletions().poll(batch)) {
            for (int i = 0; i < count; i++) {
                check(batch[i], resources.targets());
                postReceive();
                received++;
                int index = index(batch[i].queuePairNumber());
                if (posted[index] < options.tests()) {
                    postSend(index);
                }
            }
            total += count;
            timeout.restart();
        }
        return total;
    }

    private int pollSends() throws ToolFailure {
        int count = resources.sendCompletions().poll(batch);
        for (int i = 0; i < count; i++) {
            check(batch[i], resources.initiators());
        }
        sendsCompleted += count;
        return count;
    }

    /**
     * Ends the run if a work request has failed.
     *
     * @param queuePairs the queue pairs, one of which had the work request
     */
    private void check(WorkCompletion completion, List<QueuePair> queuePairs) throws ToolFailure {
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
                            + ". Has the peer exited? Do both sides use the same -n and -s?");
        }
    }

    /** Posts a receive. */
    void postReceive() throws ToolFailure {
        receive.reset(0).into(resources.region());
        calls.step("Failed to post receive to SRQ", () -> resources.receives().postReceive(receive));
    }

    /**
     * Posts the next message to a peer, over its own connection. C's tool cycles through the connections of all peers,
     * which works only if the peers' processes share one XRC domain.
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

    /** Returns the index of the peer that sends to the given target. */
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
     * Fails the run if a peer has exited or no message has arrived in time. A client waits for its first message
     * without a timeout, since the server may be waiting for other clients.
     */
    private void checkProgress() throws ToolFailure {
        long now = System.nanoTime();
        if (now - checkedNanos < CHECK_INTERVAL.toNanos()) {
            Thread.onSpinWait();
            return;
        }
        checkedNanos = now;
        boolean awaitsFirst = options.isClient() && received == 0;
        String reason =
                !awaitsFirst && timeout.isExpired() ? "nothing was received for " + timeout.seconds() + " s" : null;
        for (XsrqPeer peer : peers) {
            reason = peer.isClosed() ? "the peer has exited" : reason;
        }
        if (reason != null) {
            throw calls.failure(
                    String.format(Locale.ROOT, "%d of %d messages received", received, options.messages()),
                    reason + ". Do both sides use the same -n and -s?");
        }
    }
}
