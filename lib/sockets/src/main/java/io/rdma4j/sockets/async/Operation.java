package io.rdma4j.sockets.async;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.InterruptedByTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a channel. It is tried when it starts and whenever the channel is ready, and completes once. Thread
 * safe.
 */
final class Operation<V> implements Future<V> {
    /** The result of an attempt that must be repeated when the channel is ready. */
    static final Object NOT_YET = new Object();

    /** Tries an operation without blocking. */
    interface Attempt {
        /** Returns the result, which may be null, or {@link #NOT_YET}. */
        @Nullable
        Object now() throws IOException;
    }

    /** The program's callback for the end of an operation. */
    interface Handler<V> {
        void call(@Nullable V value, @Nullable Throwable failure);

        /** Returns a handler for a completion handler and its attachment. */
        static <V, A> Handler<V> of(CompletionHandler<V, ? super A> handler, A attachment) {
            if (handler == null) {
                throw new NullPointerException("'handler' is null");
            }
            return (value, failure) -> complete(handler, attachment, value, failure);
        }

        @SuppressWarnings("NullAway") // the result of connecting is null, as the interface of the JDK specifies
        private static <V, A> void complete(
                CompletionHandler<V, ? super A> handler, A attachment, @Nullable V value, @Nullable Throwable failure) {
            if (failure == null) {
                handler.completed(value, attachment);
            } else {
                handler.failed(failure, attachment);
            }
        }
    }

    private final Member channel;
    private final Direction direction;
    private final Attempt attempt;

    /** Calls the handler of the program; null if there is none. */
    private final RdmaChannelGroup.@Nullable Call call;

    private final CompletableFuture<@Nullable V> result = new CompletableFuture<>();
    private @Nullable Future<?> timeout;

    /**
     * Creates an operation.
     *
     * @param handler called at the end; null if the program waits for the future
     */
    Operation(Member channel, Direction direction, Attempt attempt, @Nullable Handler<V> handler) {
        this.channel = channel;
        this.direction = direction;
        this.attempt = attempt;
        call = handler == null ? null : channel.group().new Call(() -> callHandler(handler));
    }

    /** Calls the handler with the result, which is complete. */
    private void callHandler(Handler<V> handler) {
        if (result.isCompletedExceptionally()) {
            handler.call(null, result.exceptionNow());
        } else {
            handler.call(result.resultNow(), null);
        }
    }

    /** Starts the operation: tries it, and if that has no result, waits until the channel is ready for {@code ops}. */
    Future<V> begin(int ops, long time, TimeUnit unit) {
        direction.begin(this);
        if (!tryNow()) {
            if (time > 0) {
                expireAfter(time, unit);
            }
            try {
                channel.group().await(channel, ops);
            } catch (OutOfMemoryError noMemory) {
                fail(noMemory);
            }
        }
        return this;
    }

    private synchronized void expireAfter(long time, TimeUnit unit) {
        if (!result.isDone()) {
            timeout = Timeouts.schedule(this::expire, time, unit);
        }
    }

    private void expire() {
        synchronized (this) {
            if (!result.isDone()) {
                direction.kill();
            }
        }
        fail(new InterruptedByTimeoutException());
    }

    /** Tries the operation. Returns false if it is still pending. */
    @SuppressWarnings("ReferenceEquality") // NOT_YET is one object
    boolean tryNow() {
        Object value;
        synchronized (this) {
            if (result.isDone()) {
                return true;
            }
            try {
                value = attempt.now();
            } catch (IOException | RuntimeException | Error failed) {
                return fail(failed);
            }
            if (value == NOT_YET) {
                return false;
            }
            end();
            @SuppressWarnings("unchecked") // attempts return results of their operation
            V completed = (V) value;
            result.complete(completed);
        }
        deliver();
        return true;
    }

    /** Completes the operation with a failure, unless it is complete. Returns true. */
    boolean fail(Throwable why) {
        Throwable failure = switch (why) {
            case AsynchronousCloseException closed -> closed;
            case ClosedChannelException _ -> new AsynchronousCloseException();
            case IOException failed -> failed;
            default -> new IOException(why);
        };
        synchronized (this) {
            if (result.isDone()) {
                return true;
            }
            end();
            result.completeExceptionally(failure);
        }
        channel.closeIfFailed();
        deliver();
        return true;
    }

    private void end() {
        direction.end();
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    private void deliver() {
        if (call != null) {
            channel.group().call(call);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        synchronized (this) {
            if (result.isDone()) {
                return false;
            }
            channel.onCancel(direction);
            end();
            var _ = result.cancel(false);
        }
        if (mayInterruptIfRunning) {
            try {
                channel.close();
            } catch (IOException _) {
                // The channel is closed anyway.
            }
        }
        return true;
    }

    @Override
    public boolean isCancelled() {
        return result.isCancelled();
    }

    @Override
    public boolean isDone() {
        return result.isDone();
    }

    @Override
    @SuppressWarnings("NullAway") // the result of connecting is null
    public V get() throws InterruptedException, ExecutionException {
        return result.get();
    }

    @Override
    @SuppressWarnings("NullAway") // the result of connecting is null
    public V get(long time, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        return result.get(time, unit);
    }
}
