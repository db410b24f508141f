package io.rdma4j.cm;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkRequestException;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Convenience methods to post work requests and wait for completions on an identifier's queue pair. C: {@code
 * rdma/rdma_verbs.h}. Not thread safe, since it reuses its work requests. Several instances may exist for one
 * identifier.
 *
 * <p>All memory must be registered, including that of inline data, for which C requires no registration.
 */
public final class CmVerbs {
    /** Options of a send work request. C: {@code enum ibv_send_flags}. */
    public enum Flag {
        /** Waits for earlier READs and atomics before execution. C: {@code IBV_SEND_FENCE}. */
        FENCE,
        /** Generates a work completion when done. C: {@code IBV_SEND_SIGNALED}. */
        SIGNALED,
        /** Generates a solicited event at the peer. C: {@code IBV_SEND_SOLICITED}. */
        SOLICITED,
        /** Copies the data when posted. C: {@code IBV_SEND_INLINE}. */
        INLINE
    }

    private final CmId id;
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final WorkCompletion[] polled = new WorkCompletion[1];

    /** Creates an instance for an identifier, whose queue pair may be created later. */
    public CmVerbs(CmId id) {
        this.id = id;
    }

    /**
     * Registers memory for messages in the identifier's protection domain. C: {@code rdma_reg_msgs}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public MemoryRegion register(MemorySegment memory) {
        return id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
    }

    /**
     * Registers memory that the peer may read. C: {@code rdma_reg_read}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public MemoryRegion registerForRead(MemorySegment memory) {
        return id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /**
     * Registers memory that the peer may write. C: {@code rdma_reg_write}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public MemoryRegion registerForWrite(MemorySegment memory) {
        return id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    /** Registers memory that the peer may read and write. */
    public MemoryRegion registerForRemoteAccess(MemorySegment memory) {
        return id.protectionDomain()
                .register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    }

    /**
     * Writes a region to the peer's memory, and waits until the peer has acknowledged it. No other send work request may be
     * outstanding.
     *
     * @throws IllegalArgumentException if the peer's memory is shorter than the region
     * @throws RdmaException if the operation fails: the message has its status and an explanation; also as {@link
     *     #awaitSendCompletion()}
     */
    public void write(MemoryRegion source, RemoteMemory target) {
        execute("rdma_post_write", SendWorkRequest.write(0, source, target));
    }

    /**
     * Reads the peer's memory into a region, and waits until the data have arrived. No other send work request may be
     * outstanding.
     *
     * @throws IllegalArgumentException if the region is shorter than the peer's memory
     * @throws RdmaException if the operation fails: the message has its status and an explanation; also as {@link
     *     #awaitSendCompletion()}
     */
    public void read(MemoryRegion target, RemoteMemory source) {
        execute("rdma_post_read", SendWorkRequest.read(0, target, source));
    }

    /**
     * Sends a region as a message, and waits until the peer has acknowledged it. No other send work request may be outstanding.
     *
     * @throws RdmaException if the operation fails: the message has its status and an explanation; also as {@link
     *     #awaitSendCompletion()}
     */
    public void send(MemoryRegion message) {
        execute("rdma_post_send", SendWorkRequest.send(0, message));
    }

    private void execute(String operation, SendWorkRequest request) {
        queuePair(operation).postSend(request.signaled());
        var _ = awaitSendCompletion();
    }

    /**
     * Posts a receive to the identifier's shared receive queue if it has one, else to its queue pair. C: {@code
     * rdma_post_recv}.
     *
     * @param number work request number chosen by the application, in C its {@code context}
     * @param region memory, from {@link #register}
     * @param offsetBytes offset in the region at which the message is stored, in bytes
     * @param lengthBytes largest size of the message, in bytes
     * @throws RdmaException as {@link QueuePair#postReceive}; {@code EINVAL} without a queue pair
     */
    public void postReceive(long number, MemoryRegion region, long offsetBytes, long lengthBytes) {
        receive.reset(number).into(region, offsetBytes, lengthBytes);
        postReceive();
    }

    /**
     * Posts a receive that scatters into several memory ranges. C: {@code rdma_post_recvv}.
     *
     * @throws RdmaException as {@link #postReceive(long, MemoryRegion, long, long)}
     */
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
     * @param number work request number chosen by the application
     * @param region memory that holds the message
     * @param offsetBytes offset of the message in the region, in bytes
     * @param lengthBytes size of the message, in bytes
     * @param flags options
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
     */
    public void postSend(long number, MemoryRegion region, long offsetBytes, long lengthBytes, Set<Flag> flags) {
        send.reset(number);
        post("rdma_post_send", region, offsetBytes, lengthBytes, flags);
    }

    /**
     * Posts a SEND that gathers from several memory ranges. C: {@code rdma_post_sendv}.
     *
     * @throws RdmaException as {@link #postSend(long, MemoryRegion, long, long, Set)}
     */
    public void postSend(long number, ScatterGatherList pieces, Set<Flag> flags) {
        send.reset(number);
        post("rdma_post_sendv", pieces, flags);
    }

    /**
     * Posts a datagram with the connection manager's queue key, {@link DatagramParameters#UDP_QUEUE_KEY}. C: {@code
     * rdma_post_ud_send}.
     *
     * @param number work request number chosen by the application
     * @param region memory that holds the message
     * @param offsetBytes offset of the message in the region, in bytes
     * @param lengthBytes size of the message, in bytes
     * @param flags options
     * @param destination address handle of the identifier's protection domain
     * @param queuePairNumber number of the destination queue pair
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
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

    /**
     * Posts an RDMA READ that scatters into several memory ranges. C: {@code rdma_post_readv}.
     *
     * @param remote the memory of the peer, used from its first byte on
     * @throws IllegalArgumentException if it is shorter than all ranges
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
     */
    public void postRead(long number, ScatterGatherList pieces, Set<Flag> flags, RemoteMemory remote) {
        remote.requireLength(pieces.totalBytes());
        send.reset(number).read(remote.address(), remote.key());
        post("rdma_post_readv", pieces, flags);
    }

    /**
     * Posts an RDMA WRITE that gathers from several memory ranges. C: {@code rdma_post_writev}.
     *
     * @param remote the memory of the peer, used from its first byte on
     * @throws IllegalArgumentException if it is shorter than all ranges
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
     */
    public void postWrite(long number, ScatterGatherList pieces, Set<Flag> flags, RemoteMemory remote) {
        remote.requireLength(pieces.totalBytes());
        send.reset(number).write(remote.address(), remote.key());
        post("rdma_post_writev", pieces, flags);
    }

    /**
     * Posts an RDMA READ from the peer's memory; see {@link #postSend}. C: {@code rdma_post_read}.
     *
     * @param remote the memory of the peer, used from its first byte on
     * @throws IllegalArgumentException if it is shorter than {@code lengthBytes}
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
     */
    public void postRead(
            long number,
            MemoryRegion region,
            long offsetBytes,
            long lengthBytes,
            Set<Flag> flags,
            RemoteMemory remote) {
        remote.requireLength(lengthBytes);
        send.reset(number).read(remote.address(), remote.key());
        post("rdma_post_read", region, offsetBytes, lengthBytes, flags);
    }

    /**
     * Posts an RDMA WRITE to the peer's memory; see {@link #postSend}. C: {@code rdma_post_write}.
     *
     * @param remote the memory of the peer, used from its first byte on
     * @throws IllegalArgumentException if it is shorter than {@code lengthBytes}
     * @throws RdmaException as {@link QueuePair#postSend}; {@code EINVAL} without a queue pair
     */
    public void postWrite(
            long number,
            MemoryRegion region,
            long offsetBytes,
            long lengthBytes,
            Set<Flag> flags,
            RemoteMemory remote) {
        remote.requireLength(lengthBytes);
        send.reset(number).write(remote.address(), remote.key());
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
            send.fenced();
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
        QueuePair current = id.queuePair();
        if (current == null) {
            throw CmId.invalid(operation, id + " has no queue pair", "Create one first");
        }
        return current;
    }

    /**
     * Waits for the next send completion. C: {@code rdma_get_send_comp}. The caller must check its status.
     *
     * @param completion filled by this call
     * @throws RdmaException {@code EINVAL} without a queue pair, if its completion queue has no channel, or if the
     *     identifier or its queue pair is closed during the wait; {@code EINTR} if the thread was interrupted (its
     *     interrupt status stays set)
     */
    public void awaitSendCompletion(WorkCompletion completion) {
        String operation = "rdma_get_send_comp";
        await(operation, queuePair(operation).sendCompletions(), completion, null);
    }

    /**
     * Waits for the next send completion, like {@link #awaitSendCompletion(WorkCompletion)}, for at most {@code
     * timeout}.
     *
     * @return false if the timeout elapsed
     */
    public boolean awaitSendCompletion(WorkCompletion completion, Duration timeout) {
        String operation = "rdma_get_send_comp";
        return await(operation, queuePair(operation).sendCompletions(), completion, timeout);
    }

    /**
     * Waits for the next receive completion; see {@link #awaitSendCompletion(WorkCompletion)}. C: {@code
     * rdma_get_recv_comp}.
     */
    public void awaitReceiveCompletion(WorkCompletion completion) {
        String operation = "rdma_get_recv_comp";
        await(operation, receiveCompletions(operation), completion, null);
    }

    /**
     * Waits for the next receive completion, like {@link #awaitReceiveCompletion(WorkCompletion)}, for at most {@code
     * timeout}.
     *
     * @return false if the timeout elapsed
     */
    public boolean awaitReceiveCompletion(WorkCompletion completion, Duration timeout) {
        String operation = "rdma_get_recv_comp";
        return await(operation, receiveCompletions(operation), completion, timeout);
    }

    /**
     * Waits for the next send completion, and returns it if it is a success. C: {@code rdma_get_send_comp}.
     *
     * @throws RdmaException {@code EIO} if the work request failed: the message has its status and an explanation; also as
     *     {@link #awaitSendCompletion(WorkCompletion)}
     */
    public WorkCompletion awaitSendCompletion() {
        WorkCompletion completion = new WorkCompletion();
        awaitSendCompletion(completion);
        return requireSuccess("rdma_get_send_comp", completion);
    }

    /**
     * Waits for the next receive completion, and returns it if it is a success. C: {@code rdma_get_recv_comp}.
     *
     * @throws RdmaException {@code EIO} if the receive failed: the message has its status and an explanation; also as {@link
     *     #awaitSendCompletion(WorkCompletion)}
     */
    public WorkCompletion awaitReceiveCompletion() {
        WorkCompletion completion = new WorkCompletion();
        awaitReceiveCompletion(completion);
        return requireSuccess("rdma_get_recv_comp", completion);
    }

    private WorkCompletion requireSuccess(String operation, WorkCompletion completion) {
        if (!completion.isSuccess()) {
            QueuePair current = id.queuePair();
            String explanation = current == null ? "" : current.explain(completion.status());
            throw WorkRequestException.of(
                    operation,
                    completion.status(),
                    "work request " + completion.id() + " failed with " + completion.status()
                            + (explanation.isEmpty() ? "" : ": " + explanation));
        }
        return completion;
    }

    private CompletionQueue receiveCompletions(String operation) {
        CompletionQueue queue = id.receiveCompletions();
        return queue == null ? queuePair(operation).receiveCompletions() : queue;
    }

    /** Returns true when the completion is filled, or false if the timeout elapsed. */
    private boolean await(
            String operation, CompletionQueue queue, WorkCompletion completion, @Nullable Duration timeout) {
        @Nullable CompletionChannel channel = queue.channel();
        if (channel == null) {
            throw CmId.invalid(operation, "the completion queue has no channel", "Poll it");
        }
        polled[0] = completion;
        WaitDriver clock = channel.waitDriver(); // the device may have a virtual clock
        long startNanos = clock.nanoTime();
        while (queue.poll(polled) == 0) {
            queue.requestNotification(false);
            if (queue.poll(polled) != 0) {
                return true;
            }
            Duration remaining = timeout == null ? null : timeout.minusNanos(clock.nanoTime() - startNanos);
            if (remaining != null && !remaining.isPositive()) {
                return false;
            }
            CompletionQueue reported = awaitEvent(operation, channel, remaining);
            if (reported != null) {
                reported.acknowledgeEvents(1);
            } else if (!queue.equals(id.sendCompletions()) && !queue.equals(id.receiveCompletions())) {
                throw closedException(operation);
            }
        }
        return true;
    }

    private @Nullable CompletionQueue awaitEvent(
            String operation, CompletionChannel channel, @Nullable Duration timeout) {
        try {
            return timeout == null ? channel.await() : channel.await(timeout);
        } catch (ClosedException ended) {
            throw closedException(operation);
        } catch (InterruptedRdmaException interrupted) {
            throw new InterruptedRdmaException(operation, id.toString(), "");
        }
    }

    private ClosedException closedException(String operation) {
        return new ClosedException(operation, "the completion queue was closed: " + id, "");
    }
}
