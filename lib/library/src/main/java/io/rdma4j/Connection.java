package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A reliable connection to a peer: {@link #to} creates one end, and {@link ConnectionRequest#accept()} the other. Thread safe.
 *
 * <p>{@link #write}, {@link #read} and the atomic operations use the peer's memory without involving a thread of the peer. Each
 * returns when it is complete. Several threads may call them at the same time; the connection executes the operations in the
 * order in which they were started.
 *
 * <p>An operation that fails ends the connection, as the protocol demands: later calls also fail, with {@link
 * io.rdma4j.verbs.DisconnectedException} or the same failure. An operation that is interrupted or exceeds its timeout also ends
 * the connection, since its memory would otherwise stay in use after the call.
 */
public final class Connection implements AutoCloseable {
    /** The code of the time after which a peer repeats a message that found no place. */
    private static final int RETRY_AFTER_640_MICROS = 12;

    private final ConnectionEvents events;
    private final CmId id;
    private final QueuePair queuePair;
    private final ConnectionOptions options;
    private final CompletionWait sendWait;
    private final SendQueue sends;
    private final @Nullable CompletionWait receiveWait;
    private final @Nullable ReceiveQueue<Message> receives;
    private final Buffers buffers;
    private final AtomicBoolean isClosing = new AtomicBoolean();

    /** The old values of atomic operations, one at a time; its memory is allocated at the first use. */
    private final ReentrantLock atomicLock = new ReentrantLock();

    private @Nullable Buffer atomicResult;
    private volatile Peer peer;

    /** Creates the queue pair of an identifier that has a device. */
    Connection(ConnectionEvents events, ConnectionSetup<?> setup) {
        this.events = events;
        id = events.id();
        options = setup.options();
        queuePair = id.createQueuePair(setup.attributes());
        sendWait = new CompletionWait(queuePair.sendCompletions(), events, "the connection " + id);
        buffers = new Buffers(id.protectionDomain(), sendWait.toString());
        sends = new SendQueue(queuePair, sendWait, options.sends(), options.operationTimeout());
        int messages = options.messages();
        receiveWait =
                messages == 0 ? null : new CompletionWait(queuePair.receiveCompletions(), events, sendWait.toString());
        receives = receiveWait == null
                ? null
                : new ReceiveQueue<>(
                        queuePair,
                        receiveWait,
                        allocate((long) messages * Math.max(1, options.messageBytes())),
                        messages,
                        Message::new);
        peer = new Peer(Objects.requireNonNull(id.peerAddress(), "the connection has no peer"), id.peerPrivateData());
    }

    /** Sends the request or the acceptance. */
    Connecting begin(Runnable send, Steps steps) {
        try {
            send.run();
            return new Connecting(this, steps);
        } catch (RuntimeException | Error failed) {
            Cleanup.after(failed, this::abandon);
            throw failed;
        }
    }

    /** Waits until the connection is established. */
    void awaitEstablished(Steps steps) {
        steps.await(CmEvent.Type.ESTABLISHED);
        peer = new Peer(peer.address(), id.peerPrivateData());
        if (receives != null) {
            shortenRetries();
        }
        events.watch();
    }

    /** Lets a peer that found no place for its message try again soon. The connection manager's choice of 655 ms stalls each such peer. */
    private void shortenRetries() {
        try {
            queuePair.modify(new QueuePairAttributes().minRnrTimer(RETRY_AFTER_640_MICROS));
        } catch (RdmaException unchanged) {
            return; // the connection has ended, which its calls report, or it uses iWARP, which has no such time
        }
    }

    /**
     * Prepares a connection to a listener; {@link Connector#connect()} establishes it.
     *
     * @param host the name or address of the listener
     * @param port its port
     */
    public static Connector to(String host, int port) {
        return to(new InetSocketAddress(host, port));
    }

    /** Prepares a connection to a listener; {@link Connector#connect()} establishes it. */
    public static Connector to(InetSocketAddress listener) {
        return new Connector(listener);
    }

    // ---- properties

    /** Returns the other side. */
    public Peer peer() {
        return peer;
    }

    /** Returns whether the connection can be used: neither side has ended it, and no operation has failed. */
    public boolean isOpen() {
        events.handle();
        return !isClosing.get() && !events.isEnded() && !sends.hasFailed();
    }

    /** Returns the identifier, for features that this layer does not have. Its events belong to this object. */
    public CmId id() {
        return id;
    }

    /**
     * Returns the queue pair, for features that this layer does not have. Its completions of send work requests belong to this
     * object, so a program must not post any by itself.
     */
    public QueuePair queuePair() {
        return queuePair;
    }

    // ---- memory

    /** Allocates memory for the operations of this connection. It is filled with zeros, and aligned to 64 bytes. */
    public Buffer allocate(long bytes) {
        return buffers.allocate(bytes);
    }

    /**
     * Registers memory for the operations of this connection.
     *
     * @param memory memory that every thread may access, of an arena that stays open until the buffer or the connection is closed.
     *     Hardware needs native memory. May be read-only for operations that only send it
     */
    public Buffer register(MemorySegment memory) {
        return buffers.register(memory);
    }

    // ---- operations

    /**
     * Writes a buffer to the peer's memory, and waits until the peer's device has acknowledged it.
     *
     * @throws IllegalArgumentException if the peer's memory is shorter than the buffer
     * @throws io.rdma4j.verbs.RemoteAccessException if the peer does not grant the access
     * @throws io.rdma4j.verbs.WorkRequestException if the operation fails in another way
     * @throws io.rdma4j.verbs.DisconnectedException if the peer has disconnected
     * @throws ClosedException if the connection is closed
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted
     */
    public void write(Buffer source, RemoteMemory target) {
        write(source, target, sends.deadlineNanos());
    }

    /**
     * Writes a buffer to the peer's memory, like {@link #write(Buffer, RemoteMemory)}, within the given time.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException after this time, which ends the connection
     */
    public void write(Buffer source, RemoteMemory target, Duration timeout) {
        write(source, target, deadlineNanos(timeout));
    }

    private void write(Buffer source, RemoteMemory target, long deadlineNanos) {
        target.requireLength(source.lengthBytes());
        sends.execute(SendOperation.WRITE, source, target, 0, 0, deadlineNanos);
    }

    /**
     * Writes a buffer to the peer's memory, like {@link #write(Buffer, RemoteMemory)}, and notifies the peer's program: it receives an empty
     * {@link Message} with 32 bits of immediate data. The peer needs a place for it, as for {@link #send}. C: {@code
     * IBV_WR_RDMA_WRITE_WITH_IMM}.
     */
    public void writeWithImmediate(Buffer source, RemoteMemory target, int immediate) {
        writeWithImmediate(source, target, immediate, sends.deadlineNanos());
    }

    /**
     * Writes with immediate data, like {@link #writeWithImmediate(Buffer, RemoteMemory, int)}, within the given time; exceeding
     * it ends the connection.
     */
    public void writeWithImmediate(Buffer source, RemoteMemory target, int immediate, Duration timeout) {
        writeWithImmediate(source, target, immediate, deadlineNanos(timeout));
    }

    private void writeWithImmediate(Buffer source, RemoteMemory target, int immediate, long deadlineNanos) {
        target.requireLength(source.lengthBytes());
        sends.execute(SendOperation.WRITE_WITH_IMMEDIATE, source, target, immediate, 0, deadlineNanos);
    }

    /**
     * Reads the peer's memory into the start of a buffer, and waits for the data.
     *
     * @throws IllegalArgumentException if the buffer is shorter than the peer's memory
     * @throws io.rdma4j.verbs.RdmaException as {@link #write(Buffer, RemoteMemory)}
     */
    public void read(Buffer target, RemoteMemory source) {
        read(target, source, sends.deadlineNanos());
    }

    /**
     * Reads the peer's memory, like {@link #read(Buffer, RemoteMemory)}, within the given time.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException after this time, which ends the connection
     */
    public void read(Buffer target, RemoteMemory source, Duration timeout) {
        read(target, source, deadlineNanos(timeout));
    }

    private void read(Buffer target, RemoteMemory source, long deadlineNanos) {
        if (source.lengthBytes() > target.lengthBytes()) {
            throw new IllegalArgumentException(
                    source.lengthBytes() + " bytes of the peer do not fit into a buffer of " + target.lengthBytes());
        }
        Buffer exact = source.lengthBytes() == target.lengthBytes() ? target : target.slice(0, source.lengthBytes());
        sends.execute(SendOperation.READ, exact, source, 0, 0, deadlineNanos);
    }

    /**
     * Adds to a number in the peer's memory, atomically with respect to the other operations of the peer's device.
     *
     * @param target at least 8 bytes at an address that is a multiple of 8, in the native byte order of the peer
     * @param summand the number to add
     * @return the number before the addition
     * @throws IllegalArgumentException if the peer's memory is shorter
     * @throws io.rdma4j.verbs.RdmaException as {@link #write(Buffer, RemoteMemory)}
     */
    public long fetchAndAdd(RemoteMemory target, long summand) {
        return atomic(SendOperation.FETCH_AND_ADD, target, summand, 0, sends.deadlineNanos());
    }

    /**
     * Adds to a number in the peer's memory, like {@link #fetchAndAdd(RemoteMemory, long)}, within the given time; exceeding it
     * ends the connection.
     */
    public long fetchAndAdd(RemoteMemory target, long summand, Duration timeout) {
        return atomic(SendOperation.FETCH_AND_ADD, target, summand, 0, deadlineNanos(timeout));
    }

    /**
     * Replaces a number in the peer's memory if it has an expected value, atomically with respect to the other operations of the peer's
     * device.
     *
     * @param target at least 8 bytes at an address that is a multiple of 8, in the native byte order of the peer
     * @param expected the expected value
     * @param replacement the new value
     * @return the value before the operation; the number was replaced if it is the expected one
     * @throws IllegalArgumentException if the peer's memory is shorter
     * @throws io.rdma4j.verbs.RdmaException as {@link #write(Buffer, RemoteMemory)}
     */
    public long compareAndSwap(RemoteMemory target, long expected, long replacement) {
        return atomic(SendOperation.COMPARE_AND_SWAP, target, expected, replacement, sends.deadlineNanos());
    }

    /**
     * Replaces a number, like {@link #compareAndSwap(RemoteMemory, long, long)}, within the given time; exceeding it ends the
     * connection.
     */
    public long compareAndSwap(RemoteMemory target, long expected, long replacement, Duration timeout) {
        return atomic(SendOperation.COMPARE_AND_SWAP, target, expected, replacement, deadlineNanos(timeout));
    }

    /**
     * Stores a number in the peer's memory; its eight bytes change at the same time for every reader. It is executed after all
     * earlier operations. C: {@code ibv_wr_atomic_write}.
     *
     * @param target at least 8 bytes at an address that is a multiple of 8
     * @param value the number, which is sent in the byte order of this host
     * @throws IllegalArgumentException if the peer's memory is shorter
     * @throws io.rdma4j.verbs.RdmaException as {@link #write(Buffer, RemoteMemory)}; {@code EOPNOTSUPP} if the device has no such operation
     */
    public void atomicWrite(RemoteMemory target, long value) {
        target.requireLength(Long.BYTES);
        sends.execute(SendOperation.ATOMIC_WRITE, null, target, value, 0, sends.deadlineNanos());
    }

    /** Stores a number, like {@link #atomicWrite(RemoteMemory, long)}, within the given time; exceeding it ends the connection. */
    public void atomicWrite(RemoteMemory target, long value, Duration timeout) {
        target.requireLength(Long.BYTES);
        sends.execute(SendOperation.ATOMIC_WRITE, null, target, value, 0, deadlineNanos(timeout));
    }

    /**
     * Waits until data written to the peer's memory are visible to all devices of the peer's host, or persistent. The peer must
     * have exposed the memory with {@link Access#FLUSH_GLOBAL} or {@link Access#FLUSH_PERSISTENT}. C: {@code ibv_wr_flush}.
     *
     * @param target the memory that was written
     * @param types one or both placement types
     * @throws IllegalArgumentException if there is no type
     * @throws io.rdma4j.verbs.RdmaException as {@link #write(Buffer, RemoteMemory)}; {@code EOPNOTSUPP} if the device has no such operation
     */
    public void flush(RemoteMemory target, Set<PlacementType> types) {
        sends.execute(SendOperation.FLUSH, null, target, PlacementType.bits(types), 0, sends.deadlineNanos());
    }

    /**
     * Waits for the placement of written data, like {@link #flush(RemoteMemory, Set)}, within the given time; exceeding it ends
     * the connection.
     */
    public void flush(RemoteMemory target, Set<PlacementType> types, Duration timeout) {
        sends.execute(SendOperation.FLUSH, null, target, PlacementType.bits(types), 0, deadlineNanos(timeout));
    }

    private long atomic(SendOperation operation, RemoteMemory target, long first, long second, long deadlineNanos) {
        target.requireLength(Long.BYTES);
        lockAtomics(operation.call(), deadlineNanos);
        try {
            Buffer result = atomicResult;
            if (result == null) {
                result = allocate(Long.BYTES);
                atomicResult = result;
            }
            sends.execute(operation, result, target, first, second, deadlineNanos);
            return result.memory().get(ValueLayout.JAVA_LONG, 0);
        } finally {
            atomicLock.unlock();
        }
    }

    /**
     * Waits for the atomic operation of another thread. If the time passes meanwhile, the connection ends, as if the operation
     * had exceeded it.
     */
    private void lockAtomics(String operation, long deadlineNanos) {
        try {
            sendWait.lock(atomicLock, operation, deadlineNanos);
        } catch (RdmaTimeoutException | InterruptedRdmaException tooLate) {
            events.end(operation + " could not begin in time on " + sendWait);
            throw tooLate;
        }
    }

    /** Returns a new batch, for operations that are started together. */
    public Batch batch() {
        return new Batch(sends);
    }

    // ---- messages

    /**
     * Sends a message, and waits until the peer's device has acknowledged it. The peer needs a place for it ({@link
     * ConnectionSetup#messages}); until it has one, this call waits.
     *
     * @param message the message, not longer than the peer's places; may be {@link Message#buffer}
     * @throws io.rdma4j.verbs.WorkRequestException if it is longer, which ends the connection
     * @throws io.rdma4j.verbs.RdmaException as {@link #write(Buffer, RemoteMemory)}
     */
    public void send(Buffer message) {
        sends.execute(SendOperation.SEND, message, null, 0, 0, sends.deadlineNanos());
    }

    /** Sends a message, like {@link #send(Buffer)}, within the given time; exceeding it ends the connection. */
    public void send(Buffer message, Duration timeout) {
        sends.execute(SendOperation.SEND, message, null, 0, 0, deadlineNanos(timeout));
    }

    /**
     * Sends a message with 32 bits of immediate data, like {@link #send(Buffer)}; the peer reads them with {@link Message#immediate}. C:
     * {@code IBV_WR_SEND_WITH_IMM}.
     */
    public void sendWithImmediate(Buffer message, int immediate) {
        sends.execute(SendOperation.SEND_WITH_IMMEDIATE, message, null, immediate, 0, sends.deadlineNanos());
    }

    /**
     * Sends a message with immediate data, like {@link #sendWithImmediate(Buffer, int)}, within the given time; exceeding it ends
     * the connection.
     */
    public void sendWithImmediate(Buffer message, int immediate, Duration timeout) {
        sends.execute(SendOperation.SEND_WITH_IMMEDIATE, message, null, immediate, 0, deadlineNanos(timeout));
    }

    /**
     * Waits for a message from the peer. Messages arrive in the order in which the peer has sent them.
     *
     * @return the message, to be closed after use
     * @throws io.rdma4j.verbs.DisconnectedException if the peer has disconnected, and all its messages were received
     * @throws ClosedException if the connection is closed
     * @throws io.rdma4j.verbs.WorkRequestException if the connection has failed, or a message is longer than the places
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted; the connection stays open
     * @throws IllegalStateException if the connection has no places for messages: {@link ConnectionSetup#messages}
     */
    public Message receive() {
        return receives().receive(Long.MAX_VALUE);
    }

    /**
     * Waits for a message, like {@link #receive()}, for at most the given time.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException if none has arrived; the connection stays open
     */
    public Message receive(Duration timeout) {
        return receives().receive(deadlineNanos(timeout));
    }

    /**
     * Returns the messages from the peer as they arrive. The iteration ends when the peer has disconnected or the connection is
     * closed, and throws {@link io.rdma4j.verbs.WorkRequestException} if it fails.
     */
    public Iterable<Message> messages() {
        var _ = receives();
        return () -> new UntilEnd<>(this::receive);
    }

    private ReceiveQueue<Message> receives() {
        ReceiveQueue<Message> queue = receives;
        if (queue == null) {
            throw new IllegalStateException(
                    this
                            + " has no places for messages: choose their number with messages(count, bytes) before it is established");
        }
        return queue;
    }

    private long deadlineNanos(Duration timeout) {
        return sendWait.driver().deadlineNanos(timeout);
    }

    // ---- end

    /**
     * Waits until the connection ends: the peer disconnects, a failure ends it, or another thread closes it.
     *
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted
     */
    public void awaitEnd() {
        events.awaitEnd("awaitEnd", WaitDriver.CENTURY);
    }

    /**
     * Waits until the connection ends, like {@link #awaitEnd()}, for at most the given time.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException if it has not ended by then
     */
    public void awaitEnd(Duration timeout) {
        events.awaitEnd("awaitEnd", timeout);
    }

    /**
     * Ends the connection. Waits for the operations that were started, and for the peer's confirmation, at most {@link
     * ConnectionOptions#closeTimeout}. Then calls of other threads end with {@link ClosedException}, and the buffers that the program has not
     * closed are closed. Closing again has no effect, and does not wait.
     */
    @Override
    public void close() {
        if (!isClosing.compareAndSet(false, true)) {
            return;
        }
        boolean isReleased = false;
        try {
            buffers.refuse();
            events.beginClose();
            if (!events.isEnded()) {
                sends.drain(deadlineNanos(options.closeTimeout()));
                events.flush();
                events.awaitDisconnected(options.closeTimeout());
            }
            release();
            isReleased = true;
        } finally {
            if (!isReleased) { // for lack of stack or memory: closing again does the rest
                isClosing.set(false);
            }
        }
    }

    /** Closes a connection that was not established. Does not wait. */
    void abandon() {
        if (isClosing.compareAndSet(false, true)) {
            buffers.refuse();
            release();
        }
    }

    private void release() {
        List<Runnable> steps = new ArrayList<>();
        steps.add(sendWait::close);
        CompletionWait receiving = receiveWait;
        if (receiving != null) {
            steps.add(receiving::close);
        }
        steps.add(events::close);
        steps.addAll(buffers.closingSteps());
        Cleanup.runAll(steps);
    }

    @Override
    public String toString() {
        return sendWait.toString();
    }
}
