package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a listener that the application has not accepted yet. They are established connections, at most as
 * many as the backlog; replies that the peer has not confirmed; and requests without a reply.
 *
 * <p>A reply needs the memory of a connection, and a peer can send requests without ever confirming replies. Therefore,
 * unconfirmed replies have a memory budget, and each address may use only a share of it. If the budget is used up, the
 * listener gives up a reply older than {@link #PATIENCE_NANOS} in favor of a waiting request. Thread safe.
 */
final class AcceptQueue {
    /** A request without a reply. */
    record Request(CmId id, ConnectData peer, InetAddress source) {}

    /** A reply that the peer has not confirmed. */
    static final class Reply {
        private final Request request;
        private final long bytes;
        private final long sinceNanos;
        private volatile @Nullable StreamEndpoint endpoint;

        /**
         * Creates a reply.
         *
         * @param request the request
         * @param bytes memory of the connection in bytes
         * @param sinceNanos the time of the reply by the stack's clock
         */
        Reply(Request request, long bytes, long sinceNanos) {
            this.request = request;
            this.bytes = bytes;
            this.sinceNanos = sinceNanos;
        }

        Request request() {
            return request;
        }

        /** Returns the endpoint that is being connected, or null if it is not set yet. */
        @Nullable
        StreamEndpoint endpoint() {
            return endpoint;
        }

        void endpoint(StreamEndpoint value) {
            endpoint = value;
        }
    }

    /** Maximum number of requests without a reply; Linux has the same limit. */
    static final int MAX_WAITING = 1024;

    /** Memory of unconfirmed replies in bytes: about seventy connections of the default size. */
    static final long BUDGET_BYTES = 32L << 20;

    /** One address gets the budget divided by this number. */
    static final int SHARES = 4;

    /**
     * The age after which an unconfirmed reply is given up for a request. By then, a lost reply has been retransmitted.
     */
    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final int backlog;
    private final Signal listening;
    private final ArrayDeque<StreamEndpoint> connected = new ArrayDeque<>();
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();

    /** Unconfirmed replies, the oldest first. */
    private final ArrayList<Reply> unconfirmed = new ArrayList<>();

    private final Map<InetAddress, Long> bytesBySource = new HashMap<>();
    private long unconfirmedBytes;
    private boolean closed;

    /** Creates a queue; {@code listening} is signaled for each established connection. */
    AcceptQueue(int backlog, Signal listening) {
        this.backlog = Math.max(1, backlog);
        this.listening = listening;
    }

    /** Queues a request. Returns false if the queue is full. */
    synchronized boolean offer(Request request) {
        if (closed || waiting.size() >= MAX_WAITING) {
            return false;
        }
        waiting.add(request);
        return true;
    }

    /** Removes a request. Returns false if it is no longer queued. */
    synchronized boolean withdraw(Request request) {
        return waiting.remove(request);
    }

    /**
     * Returns the next request to accept, as an unconfirmed reply, or null. The source with the least memory of
     * unconfirmed replies comes first.
     *
     * @param bytes memory of the connection in bytes
     * @param nowNanos the time of the stack's clock
     */
    synchronized @Nullable Reply nextReply(long bytes, long nowNanos) {
        if (closed || connected.size() >= backlog || !fits(unconfirmedBytes, bytes, BUDGET_BYTES)) {
            return null;
        }
        Request next = null;
        long least = Long.MAX_VALUE;
        for (Request request : waiting) {
            long held = bytesOf(request.source());
            if (held < least && fits(held, bytes, BUDGET_BYTES / SHARES)) {
                next = request;
                least = held;
            }
        }
        if (next == null) {
            return null;
        }
        // The allocations come first: if one of them fails, the request is still waiting.
        Reply reply = new Reply(next, bytes, nowNanos);
        unconfirmed.ensureCapacity(unconfirmed.size() + 1);
        bytesBySource.put(next.source(), least + bytes);
        unconfirmed.add(reply);
        unconfirmedBytes += bytes;
        waiting.remove(next);
        return reply;
    }

    /** Returns whether more bytes fit within a limit. A single connection always fits. */
    private static boolean fits(long held, long bytes, long most) {
        return held == 0 || held + bytes <= most;
    }

    private long bytesOf(InetAddress source) {
        return bytesBySource.getOrDefault(source, 0L);
    }

    /** Removes and returns an overdue unconfirmed reply if a request could use its memory, or returns null. */
    synchronized @Nullable Reply nextOverdue(long bytes, long nowNanos) {
        Reply oldest = oldestBlocking(bytes);
        if (oldest == null || nowNanos - oldest.sinceNanos < PATIENCE_NANOS) {
            return null;
        }
        removeUnconfirmed(oldest);
        return oldest;
    }

    /** Returns the time until {@link #nextOverdue} may return a reply; -1 if no request waits for one. */
    synchronized long untilOverdueNanos(long bytes, long nowNanos) {
        Reply oldest = oldestBlocking(bytes);
        return oldest == null ? -1 : Math.max(0, PATIENCE_NANOS - (nowNanos - oldest.sinceNanos));
    }

    private @Nullable Reply oldestBlocking(long bytes) {
        if (closed || waiting.isEmpty() || connected.size() >= backlog) {
            return null;
        }
        Predicate<Reply> isBlocking = fits(unconfirmedBytes, bytes, BUDGET_BYTES)
                ? reply -> waiting.stream()
                        .anyMatch(request ->
                                request.source().equals(reply.request().source()))
                : reply -> true;
        return unconfirmed.stream().filter(isBlocking).findFirst().orElse(null);
    }

    private boolean removeUnconfirmed(Reply reply) {
        int index = unconfirmed.indexOf(reply);
        if (index < 0) {
            return false;
        }
        InetAddress source = reply.request().source();
        long left = bytesOf(source) - reply.bytes;
        if (left == 0) {
            bytesBySource.remove(source);
        } else {
            bytesBySource.put(source, left); // comes first, since only this needs memory
        }
        unconfirmed.remove(index);
        unconfirmedBytes -= reply.bytes;
        return true;
    }

    /** Queues an established connection. Returns false if the listener is closed. */
    boolean connected(Reply reply, StreamEndpoint endpoint) {
        synchronized (this) {
            removeUnconfirmed(reply);
            if (closed) {
                return false;
            }
            connected.add(endpoint);
        }
        listening.raise();
        return true;
    }

    /** Queues a request again if there was no memory to accept it. Returns false if the queue was closed meanwhile. */
    synchronized boolean putBack(Reply reply) {
        if (!removeUnconfirmed(reply)) {
            return false;
        }
        waiting.addFirst(reply.request());
        return true;
    }

    /** Removes a failed reply. Returns false if it was removed before. */
    synchronized boolean failed(Reply reply) {
        return removeUnconfirmed(reply);
    }

    synchronized @Nullable StreamEndpoint poll() {
        return connected.poll();
    }

    synchronized boolean isEmpty() {
        return connected.isEmpty();
    }

    /**
     * Closes the queue and all connections in it. Removes them one by one, without allocating memory, so that this also
     * works with a full heap. The first failure is thrown after all others were closed.
     */
    void close() {
        Throwable failure = null;
        boolean isLeft = true;
        while (isLeft) {
            try {
                isLeft = closeNext();
            } catch (RuntimeException | Error failed) {
                failure = Releases.both(failure, failed);
            }
        }
        Releases.rethrow(failure);
    }

    /** Closes the queue, then removes and closes its next connection. Returns false if the queue is empty. */
    private boolean closeNext() {
        StreamEndpoint endpoint;
        Reply reply = null;
        Request request = null;
        synchronized (this) {
            closed = true;
            endpoint = connected.poll();
            if (endpoint == null && !unconfirmed.isEmpty()) {
                reply = unconfirmed.removeLast();
            } else if (endpoint == null) {
                request = waiting.poll();
            }
        }
        if (endpoint != null) {
            endpoint.closeWithoutWaiting();
        } else if (reply != null) {
            giveUp(reply);
        } else if (request != null) {
            request.id().close();
        } else {
            return false;
        }
        return true;
    }

    /** Gives up a reply that the peer has not confirmed. */
    static void giveUp(Reply reply) {
        StreamEndpoint endpoint = reply.endpoint();
        if (endpoint != null) {
            endpoint.giveUpUnconfirmed();
        }
    }
}
