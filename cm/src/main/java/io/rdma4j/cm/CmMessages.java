package io.rdma4j.cm;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The short forms of the verbs for an identifier with a queue pair. C: {@code rdma/rdma_verbs.h}. Not thread safe: it
 * reuses its work requests; several may be made for one identifier.
 *
 * <p>All memory must be registered, also that of inline data, where C takes none.
 */
public final class CmMessages {
    /** How a send work request is done. C: {@code enum ibv_send_flags}. */
    public enum Flag {
        /** Waits for earlier READs and atomics. C: {@code IBV_SEND_FENCE}. */
        FENCE,
        /** Is reported when it is done. C: {@code IBV_SEND_SIGNALED}. */
        SIGNALED,
        /** Wakes a peer that waits for solicited events only. C: {@code IBV_SEND_SOLICITED}. */
        SOLICITED,
        /** Copies the data when posted. C: {@code IBV_SEND_INLINE}. */
        INLINE
    }

    private final CmId id;
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final WorkCompletion[] one = new WorkCompletion[1];

    /** Creates the short forms for an identifier; its queue pair may be made later. */
    public CmMessages(CmId id) {
        this.id = id;
    }

    /** Registers memory for messages, in the identifier's domain. C: {@code rdma_reg_msgs}. */
    public MemoryRegion register(MemorySegment memory) {
        return id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
    }

    /** Registers memory that the peer may read. C: {@code rdma_reg_read}. */
    public MemoryRegion registerForRead(MemorySegment memory) {
        return id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /** Registers memory that the peer may write. C: {@code rdma_reg_write}. */
    public MemoryRegion registerForWrite(MemorySegment memory) {
        return id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    /**
     * Posts a receive: to the identifier's shared receive queue, if it has one, else to its queue pair. C: {@code
     * rdma_post_recv}.
     *
     * @param number the application's number, in C its {@code context}
     * @param region memory, from {@link #register}
     * @param offsetBytes where the message goes in it
     * @param lengthBytes bytes that it may have
     * @throws RdmaException as {@link QueuePair#postReceive}; {@code EINVAL} without a queue pair
     */
    public void postReceive(long number, MemoryRegion region, long offsetBytes, long lengthBytes) {
        receive.reset(number).into(region, offsetBytes, lengthBytes);
        postReceive();
    }

    /** Posts a receive of several pieces of memory. C: {@code rdma_post_recvv}. */
    public void postReceive(long number, ScatterGatherList pieces) {
        receive.reset(number);
        for (int i = 0; i < pieces.count(); i++) {
            receive.into(pieces.region(i), pieces.offsetBytes(i), pieces.lengthBytes(i));
        }
        postReceive();
    }

    private void postReceive() {
        SharedReceiveQueue shared = id.sharedReceiveQueue();
        if (shared != null) {
            shared.postReceive(receive);
        } else {
            queuePair("rdma_post_recv").postReceive(receive);
        }
    }

    /**
     * Posts a SEND. C: {@code rdma_post_send}.
     *
     * @param number the application's number
     * @param region memory
     * @param offsetBytes where the message begins in it
     * @param lengthBytes bytes of the message
     * @param flags how
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
     */
    public void postSend(long number, MemoryRegion region, long offsetBytes, long lengthBytes, Set<Flag> flags) {
        send.reset(number);
        post("rdma_post_send", region, offsetBytes, lengthBytes, flags);
    }

    /** Posts a SEND of several pieces of memory. C: {@code rdma_post_sendv}. */
    public void postSend(long number, ScatterGatherList pieces, Set<Flag> flags) {
        send.reset(number);
        post("rdma_post_sendv", pieces, flags);
    }

    /**
     * Posts a datagram, with the queue key of the connection manager's queue pairs. C: {@code rdma_post_ud_send}.
     *
     * @param destination where it goes, of the identifier's domain
     * @param queuePairNumber queue pair that it goes to
     */
    public void postDatagramSend(
            long number,
            MemoryRegion region,
            long offsetBytes,
            long lengthBytes,
            Set<Flag> flags,
            AddressHandle destination,
            int queuePairNumber) {
        send.reset(number).to(destination, queuePairNumber, DatagramParameters.UDP_QUEUE_KEY);
        post("rdma_post_ud_send", region, offsetBytes, lengthBytes, flags);
    }

    /** Posts an RDMA READ into several pieces of memory. C: {@code rdma_post_readv}. */
    public void postRead(long number, ScatterGatherList pieces, Set<Flag> flags, long remoteAddress, int remoteKey) {
        send.reset(number).read(remoteAddress, remoteKey);
        post("rdma_post_readv", pieces, flags);
    }

    /** Posts an RDMA WRITE of several pieces of memory. C: {@code rdma_post_writev}. */
    public void postWrite(long number, ScatterGatherList pieces, Set<Flag> flags, long remoteAddress, int remoteKey) {
        send.reset(number).write(remoteAddress, remoteKey);
        post("rdma_post_writev", pieces, flags);
    }

    /** Posts an RDMA READ from the peer's memory; see {@link #postSend}. C: {@code rdma_post_read}. */
    public void postRead(
            long number,
            MemoryRegion region,
            long offsetBytes,
            long lengthBytes,
            Set<Flag> flags,
            long remoteAddress,
            int remoteKey) {
        send.reset(number).read(remoteAddress, remoteKey);
        post("rdma_post_read", region, offsetBytes, lengthBytes, flags);
    }

    /** Posts an RDMA WRITE to the peer's memory; see {@link #postSend}. C: {@code rdma_post_write}. */
    public void postWrite(
            long number,
            MemoryRegion region,
            long offsetBytes,
            long lengthBytes,
            Set<Flag> flags,
            long remoteAddress,
            int remoteKey) {
        send.reset(number).write(remoteAddress, remoteKey);
        post("rdma_post_write", region, offsetBytes, lengthBytes, flags);
    }

    private void post(String operation, MemoryRegion region, long offsetBytes, long lengthBytes, Set<Flag> flags) {
        send.from(region, offsetBytes, lengthBytes);
        post(operation, flags);
    }

    private void post(String operation, ScatterGatherList pieces, Set<Flag> flags) {
        for (int i = 0; i < pieces.count(); i++) {
            send.from(pieces.region(i), pieces.offsetBytes(i), pieces.lengthBytes(i));
        }
        post(operation, flags);
    }

    private void post(String operation, Set<Flag> flags) {
        if (flags.contains(Flag.FENCE)) {
            send.fence();
        }
        if (flags.contains(Flag.SIGNALED)) {
            send.signaled();
        }
        if (flags.contains(Flag.SOLICITED)) {
            send.solicited();
        }
        if (flags.contains(Flag.INLINE)) {
            send.inline();
        }
        queuePair(operation).postSend(send);
    }

    private QueuePair queuePair(String operation) {
        QueuePair own = id.queuePair();
        if (own == null) {
            throw IdCore.invalid(operation, id + " has no queue pair", "Create one first");
        }
        return own;
    }

    /**
     * Waits for the next finished send work request. C: {@code rdma_get_send_comp}. Its status is for the caller to look at.
     *
     * @param completion filled
     * @throws RdmaException {@code EINVAL} without a queue pair, if its completion queue has no channel, or if the
     *     identifier or its queue pair is closed meanwhile; {@code EINTR} if the thread was interrupted (its flag stays set)
     */
    public void awaitSendCompletion(WorkCompletion completion) {
        String operation = "rdma_get_send_comp";
        await(operation, queuePair(operation).sendCompletions(), completion, null);
    }

    /** Like {@link #awaitSendCompletion(WorkCompletion)}, but waits no longer; false if the time is over. */
    public boolean awaitSendCompletion(WorkCompletion completion, Duration timeout) {
        String operation = "rdma_get_send_comp";
        return await(operation, queuePair(operation).sendCompletions(), completion, timeout);
    }

    /**
     * Waits for the next finished receive; see {@link #awaitSendCompletion(WorkCompletion)}. C: {@code
     * rdma_get_recv_comp}.
     */
    public void awaitReceiveCompletion(WorkCompletion completion) {
        String operation = "rdma_get_recv_comp";
        await(operation, receiveCompletions(operation), completion, null);
    }

    /** Like {@link #awaitReceiveCompletion(WorkCompletion)}, but waits no longer; false if the time is over. */
    public boolean awaitReceiveCompletion(WorkCompletion completion, Duration timeout) {
        String operation = "rdma_get_recv_comp";
        return await(operation, receiveCompletions(operation), completion, timeout);
    }

    private CompletionQueue receiveCompletions(String operation) {
        CompletionQueue queue = id.receiveCompletions();
        return queue == null ? queuePair(operation).receiveCompletions() : queue;
    }

    /** True when the completion is filled; false, which only a time-out can bring about, when the time is over. */
    private boolean await(
            String operation, CompletionQueue queue, WorkCompletion completion, @Nullable Duration timeout) {
        @Nullable CompletionChannel channel = queue.channel();
        if (channel == null) {
            throw IdCore.invalid(operation, "the completion queue has no channel", "Poll it");
        }
        one[0] = completion;
        long begin = System.nanoTime();
        while (queue.poll(one) == 0) {
            queue.requestNotification(false);
            if (queue.poll(one) != 0) {
                return true;
            }
            Duration left = timeout == null ? null : timeout.minusNanos(System.nanoTime() - begin);
            if (left != null && !left.isPositive()) {
                return false;
            }
            CompletionQueue reported = left == null ? channel.await() : channel.await(left);
            if (reported != null) {
                reported.acknowledgeEvents(1);
            } else {
                requireWaiting(operation, queue, left == null);
            }
        }
        return true;
    }

    /** After a wait that ended without an event: throws, unless only the time may be over. */
    private void requireWaiting(String operation, CompletionQueue queue, boolean isEndless) {
        boolean isInterrupted = Thread.currentThread().isInterrupted();
        boolean isOwn = queue.equals(id.sendCompletions()) || queue.equals(id.receiveCompletions());
        if (!isInterrupted && !isOwn) {
            throw IdCore.invalid(operation, "the completion queue was closed: " + id, "");
        }
        if (isInterrupted || isEndless) {
            throw new RdmaException(operation, Errno.EINTR, id.toString(), "");
        }
    }
}
