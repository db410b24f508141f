package io.rdma4j;

import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Operations of a connection that are started together, which costs less than starting them one by one. {@link #post}
 * starts them and empties the batch, so that it can be filled again; {@link #await()} waits for all that were posted.
 * Two batches that are posted alternately keep a connection busy. Used by one thread; allocates nothing once it has
 * reached its maximum size.
 *
 * {@snippet :
 * Batch batch = connection.batch();
 * for (Block block : blocks) {
 *     batch.write(block.source(), block.target());
 * }
 * batch.post();
 * batch.await();
 * }
 */
public final class Batch {
    private static final int FIRST_SIZE = 16;

    private final SendQueue sends;
    private SendWorkRequest[] requests = new SendWorkRequest[0];
    private int count;
    private long last;

    Batch(SendQueue sends) {
        this.sends = sends;
    }

    /** Returns the number of operations that are not posted yet. */
    public int size() {
        return count;
    }

    /**
     * Adds a write of a buffer to the peer's memory.
     *
     * @throws IllegalArgumentException if the peer's memory is shorter than the buffer
     */
    public Batch write(Buffer source, RemoteMemory target) {
        target.requireLength(source.lengthBytes());
        return add(SendOperation.WRITE, source, target, 0);
    }

    /**
     * Adds a write with immediate data; see {@link Connection#writeWithImmediate(Buffer, RemoteMemory, int)}.
     *
     * @throws IllegalArgumentException if the peer's memory is shorter than the buffer
     */
    public Batch writeWithImmediate(Buffer source, RemoteMemory target, int immediate) {
        target.requireLength(source.lengthBytes());
        return add(SendOperation.WRITE_WITH_IMMEDIATE, source, target, immediate);
    }

    /**
     * Adds a read of as many bytes of the peer's memory as the buffer has.
     *
     * @throws IllegalArgumentException if the peer's memory is shorter than the buffer
     */
    public Batch read(Buffer target, RemoteMemory source) {
        source.requireLength(target.lengthBytes());
        return add(SendOperation.READ, target, source, 0);
    }

    /** Adds a message. */
    public Batch send(Buffer message) {
        return add(SendOperation.SEND, message, null, 0);
    }

    /** Adds a message with immediate data; see {@link Connection#sendWithImmediate(Buffer, int)}. */
    public Batch sendWithImmediate(Buffer message, int immediate) {
        return add(SendOperation.SEND_WITH_IMMEDIATE, message, null, immediate);
    }

    /**
     * Adds a store of a number in the peer's memory; see {@link Connection#atomicWrite(RemoteMemory, long)}.
     *
     * @throws IllegalArgumentException if the peer's memory is shorter than 8 bytes
     */
    public Batch atomicWrite(RemoteMemory target, long value) {
        target.requireLength(Long.BYTES);
        return add(SendOperation.ATOMIC_WRITE, null, target, value);
    }

    /**
     * Adds a flush of the data that earlier operations have written; see {@link Connection#flush(RemoteMemory, Set)}.
     *
     * @throws IllegalArgumentException if there is no placement type
     */
    public Batch flush(RemoteMemory target, Set<PlacementType> types) {
        return add(SendOperation.FLUSH, null, target, PlacementType.bits(types));
    }

    /**
     * Removes the operations that are not posted yet, such as those that were added before an operation that was refused. Posted
     * operations are not affected.
     */
    public void clear() {
        count = 0;
    }

    private Batch add(SendOperation operation, @Nullable Buffer local, @Nullable RemoteMemory remote, long operand) {
        if (count == requests.length) {
            grow();
        }
        SendWorkRequest request = requests[count].reset(0);
        operation.fill(request, local, remote, operand, 0);
        count++;
        return this;
    }

    private void grow() {
        int before = requests.length;
        requests = Arrays.copyOf(requests, Math.max(FIRST_SIZE, 2 * before));
        for (int i = before; i < requests.length; i++) {
            requests[i] = new SendWorkRequest();
        }
    }

    /**
     * Starts the operations, in the order in which they were added. Waits only while there are more of them than {@link
     * ConnectionOptions#sends} allows. The batch is then empty, and the buffers must not be changed before {@link #await()} has
     * returned.
     *
     * @throws io.rdma4j.verbs.RdmaException as {@link Connection#write(Buffer, RemoteMemory)}; if the device refuses an
     *     operation, such as one that it does not support, which ends the connection if earlier ones of the batch were started
     */
    public Batch post() {
        try {
            last = sends.postAll(requests, count, sends.deadlineNanos());
        } finally {
            count = 0;
        }
        return this;
    }

    /**
     * Returns whether all operations that were posted are complete, without waiting.
     *
     * @throws io.rdma4j.verbs.RdmaException if one of them failed, as {@link #await()}
     */
    public boolean isComplete() {
        return sends.isComplete(last);
    }

    /**
     * Waits until all operations that were posted are complete, for at most a time. Unlike {@link #await(Duration)}, it does not end the
     * connection: the operations continue, and their buffers remain in use until a later call has found them complete. A program that
     * waits for the first of several connections calls it for each with a short time.
     *
     * @return false after the time
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted; the operations continue
     * @throws io.rdma4j.verbs.RdmaException if one of them failed, as {@link #await()}
     */
    public boolean tryAwait(Duration timeout) {
        return sends.tryAwait(last, sends.deadlineNanos(timeout));
    }

    /**
     * Waits until all operations that were posted are complete.
     *
     * @throws io.rdma4j.verbs.RdmaException if one of them failed, as {@link Connection#write(Buffer, RemoteMemory)}
     */
    public void await() {
        sends.awaitBatch(last, sends.deadlineNanos());
    }

    /**
     * Waits until all operations that were posted are complete, for at most the given time.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException after the time, which ends the connection
     * @throws io.rdma4j.verbs.RdmaException as {@link #await()}
     */
    public void await(Duration timeout) {
        sends.awaitBatch(last, sends.deadlineNanos(timeout));
    }
}
