package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.abi.Native;

/**
 * The functions of the data path, polling and posting, which C calls through pointers. They never throw. Each returns
 * an error number like the function of libibverbs. C: {@code struct bridge_data}. Thread safe.
 */
final class DataPath {
    private DataPath() {}

    /**
     * Polls a completion queue. C: {@code ibv_poll_cq}.
     *
     * @return the number of completions, or a negative error number
     */
    static int poll(int queue, int count, long completions) {
        try {
            return Handles.find(queue) instanceof Completions target
                    ? CompletionBuffer.ofThread().poll(target.queue(), count, completions)
                    : -Errno.EINVAL.number();
        } catch (Throwable failure) {
            return -Failures.errno(failure);
        }
    }

    /**
     * Polls one completion with its time. C: {@code ibv_start_poll}, {@code ibv_next_poll}.
     *
     * @return 1, 0 if there is none, or a negative error number
     */
    static int pollTimed(int queue, long completion, long timestamp) {
        try {
            if (!(Handles.find(queue) instanceof Completions target)) {
                return -Errno.EINVAL.number();
            }
            long nanos = CompletionBuffer.ofThread().pollTimed(target.queue(), completion);
            if (nanos == Long.MIN_VALUE) {
                return 0;
            }
            Native.putLong(timestamp, nanos);
            return 1;
        } catch (Throwable failure) {
            return -Failures.errno(failure);
        }
    }

    /** Requests an event for the next completion. C: {@code ibv_req_notify_cq}. */
    static int requestNotification(int queue, int solicitedOnly) {
        try {
            if (!(Handles.find(queue) instanceof Completions target)) {
                return Errno.EINVAL.number();
            }
            target.requestNotification(solicitedOnly != 0);
            return 0;
        } catch (Throwable failure) {
            return Failures.errno(failure);
        }
    }

    /** Posts sends; see {@link SendPoster#post}. C: {@code ibv_post_send}. */
    static int postSend(int queuePair, long first, long bad) {
        return Handles.find(queuePair) instanceof PostedQueuePair target
                ? target.postSend(first, bad)
                : Chains.refuse(first, bad, Errno.EINVAL);
    }

    /** Posts receives; see {@link ReceivePoster#post}. C: {@code ibv_post_recv}. */
    static int postReceive(int queuePair, long first, long bad) {
        return Handles.find(queuePair) instanceof PostedQueuePair target
                ? target.postReceive(first, bad)
                : Chains.refuse(first, bad, Errno.EINVAL);
    }

    /** Posts receives to a shared queue; see {@link ReceivePoster#post}. C: {@code ibv_post_srq_recv}. */
    static int postSharedReceive(int queue, long first, long bad) {
        return Handles.find(queue) instanceof SharedReceives target
                ? target.postReceive(first, bad)
                : Chains.refuse(first, bad, Errno.EINVAL);
    }
}
