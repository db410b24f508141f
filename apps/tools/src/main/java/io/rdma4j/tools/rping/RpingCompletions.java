package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;

/**
 * Processes the completions of one connection and updates its {@link RpingProgress}, until the queue pair is flushed, a
 * failure occurs or the channel is closed.
 *
 * <p>The thread that waits for the progress uses this class, and drives the device while it waits. Any thread may call
 * {@link #wakeup}.
 */
final class RpingCompletions implements AutoCloseable {
    private final boolean server;
    private final QueuePair queuePair;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final WaitSet waits;
    private final RpingBuffers buffers;
    private final RpingProgress progress;
    private final RpingReport report;
    private final ReceiveWorkRequest receiveRequest = new ReceiveWorkRequest();
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private RpingMessage remote = new RpingMessage(0, 0, 0);
    private boolean isOver;

    RpingCompletions(
            boolean server,
            QueuePair queuePair,
            CompletionChannel channel,
            CompletionQueue completions,
            RpingBuffers buffers,
            RpingProgress progress,
            RpingReport report) {
        this.server = server;
        this.queuePair = queuePair;
        this.channel = channel;
        this.completions = completions;
        waits = WaitSet.of(channel);
        this.buffers = buffers;
        this.progress = progress;
        this.report = report;
    }

    /** Returns the last buffer that the client advertised. Used by the server. */
    RpingMessage remote() {
        return remote;
    }

    /** Posts the only receive, before the connection is established. */
    void postReceive() throws ToolFailure {
        try {
            queuePair.postReceive(receiveRequest.reset(0).into(buffers.receive()));
        } catch (RdmaException e) {
            report.error("ibv_post_recv failed: " + e.errno().number());
            report.explain(e);
            throw new ToolFailure(e.errno().number());
        }
    }

    /** Returns whether the last completion has been processed. */
    boolean isOver() {
        return isOver;
    }

    /** Ends the wait that is in progress, or the next one. */
    void wakeup() {
        waits.wakeup();
    }

    /**
     * Waits for an event of the completion queue, for {@link #wakeup} or for the timeout, and processes the
     * completions.
     */
    void processNext(long timeoutNanos) {
        try {
            if (waits.await(Duration.ofNanos(timeoutNanos)).isEmpty() || channel.poll() == null) {
                return;
            }
        } catch (RdmaException closedOrInterrupted) {
            isOver = true;
            return;
        }
        isOver = true;
        try {
            completions.requestNotification(false);
            isOver = drain();
        } catch (RdmaException e) {
            report.error("poll error " + e.errno().number());
            report.explain(e);
            progress.signal(RpingState.ERROR);
        } finally {
            completions.acknowledgeEvents(1);
        }
    }

    @Override
    public void close() {
        waits.close();
    }

    /** Processes all available completions. Returns true if it has processed the last one. */
    private boolean drain() {
        boolean flushed = false;
        while (completions.poll(one) == 1) {
            WorkCompletion completion = one[0];
            if (completion.status() == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR) {
                flushed = true;
            } else if (!completion.isSuccess()) {
                report.error(
                        "cq completion failed status " + completion.status().code());
                report.explain(explanation(completion));
                progress.signal(RpingState.ERROR);
                return true;
            } else if (!process(completion)) {
                progress.signal(RpingState.ERROR);
                return true;
            }
        }
        return flushed;
    }

    private boolean process(WorkCompletion completion) {
        switch (completion.opcode()) {
            case SEND -> report.debug("send completion");
            case RDMA_WRITE -> {
                report.debug("rdma write completion");
                progress.signal(RpingState.WRITE_COMPLETE);
            }
            case RDMA_READ -> {
                report.debug("rdma read completion");
                progress.signal(RpingState.READ_COMPLETE);
            }
            case RECEIVE -> {
                report.debug("recv completion");
                return processMessage(completion);
            }
            default -> {
                report.debug("unknown!!!!! completion");
                return false;
            }
        }
        return true;
    }

    private boolean processMessage(WorkCompletion completion) {
        if (completion.byteLength() != RpingMessage.BYTES) {
            report.error("Received bogus data, size " + completion.byteLength());
            report.error("recv wc error: -1");
            report.explain("a control message of rping has " + RpingMessage.BYTES + " bytes; is the peer an rping?");
            return false;
        }
        RpingState state = progress.state();
        if (server) {
            RpingMessage message = RpingMessage.read(buffers.receive().memory());
            remote = message;
            report.debug(
                    "Received rkey %x addr %x len %d from peer", message.key(), message.address(), message.sizeBytes());
            boolean first = state.number() <= RpingState.CONNECTED.number() || state == RpingState.WRITE_COMPLETE;
            progress.enter(first ? RpingState.READ_ADVERTISED : RpingState.WRITE_ADVERTISED);
        } else {
            progress.enter(
                    state == RpingState.READ_ADVERTISED ? RpingState.WRITE_ADVERTISED : RpingState.WRITE_COMPLETE);
        }
        try {
            queuePair.postReceive(receiveRequest.reset(0).into(buffers.receive()));
        } catch (RdmaException e) {
            report.error("post recv error: " + e.errno().number());
            report.explain(e);
            return false;
        }
        progress.signal();
        return true;
    }

    private String explanation(WorkCompletion completion) {
        String what = queuePair.explain(completion.status()) + " (" + completion.status() + "), queue pair 0x"
                + Integer.toHexString(completion.queuePairNumber());
        return switch (completion.status()) {
            case RETRY_EXCEEDED_ERROR -> what + ": the peer has exited, or packets to UDP port 4791 are lost";
            case REMOTE_ACCESS_ERROR ->
                what + ": the peer rejected the key, the range or the access; do both sides use the same -S?";
            case LOCAL_PROTECTION_ERROR ->
                what + ": the data do not fit this side's buffer; do both sides use the same -S?";
            default -> what;
        };
    }
}
