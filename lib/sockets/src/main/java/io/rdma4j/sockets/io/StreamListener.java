package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.ConnectData;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The handling of connection requests by a listening endpoint. Each request becomes an endpoint when the queue admits
 * it. Thread safe.
 */
final class StreamListener {
    /** Requests that could not be rejected because their senders had withdrawn them. */
    static final LongAdder WITHDRAWN = new LongAdder();

    /** Replies that were given up because the peer did not confirm them while other requests waited. */
    static final LongAdder GIVEN_UP = new LongAdder();

    /** A queued request. Its events are not events of the listener. */
    private final class PendingRequest implements ConnectionService.Target {
        private final AcceptQueue.Request request;

        PendingRequest(AcceptQueue.Request request) {
            this.request = request;
        }

        @Override
        public void onEvent(CmEvent event) {
            switch (event.type()) {
                case REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED, DEVICE_REMOVAL -> withdraw();
                default -> {
                    // The request stays queued.
                }
            }
        }

        @Override
        public void onFailure(CmEvent event, Throwable why) {
            withdraw();
        }

        /**
         * Removes the request in a separate thread, since the identifier cannot be closed while its event is being
         * handled. The request stays queued until the thread runs. If there is no memory for a thread, the call is
         * repeated.
         */
        private void withdraw() {
            Thread.ofVirtual().start(() -> {
                if (queue.withdraw(request)) {
                    request.id().close();
                }
            });
        }
    }

    private final StreamEndpoint listener;
    private final AcceptQueue queue;
    private final AtomicBoolean retryScheduled = new AtomicBoolean();
    private final AtomicBoolean refusalLogged = new AtomicBoolean();

    StreamListener(StreamEndpoint listener, int backlog, Signal changed) {
        this.listener = listener;
        this.queue = new AcceptQueue(backlog, changed);
    }

    /** Returns an established connection, or null. */
    @Nullable
    StreamEndpoint accept() {
        StreamEndpoint next = queue.poll();
        if (next != null) {
            acceptRequests();
        }
        return next;
    }

    boolean isReady() {
        return !queue.isEmpty();
    }

    void onRequest(CmEvent event) {
        CmId child = event.id();
        AcceptQueue.Request request = request(child, ConnectData.parse(event.privateData()));
        if (request != null) {
            child.setContext(new PendingRequest(request));
        }
        if (request == null || !queue.offer(request)) {
            refuseLater(child);
        } else {
            acceptRequests();
        }
    }

    /** Returns the request of an identifier, or null if its connection data is invalid. */
    private static AcceptQueue.@Nullable Request request(CmId child, @Nullable ConnectData peer) {
        InetSocketAddress source = child.peerAddress();
        return peer == null || source == null ? null : new AcceptQueue.Request(child, peer, source.getAddress());
    }

    /** Queues an established connection. Returns false if the listener is closed. */
    boolean onConnected(AcceptQueue.Reply reply, StreamEndpoint endpoint) {
        boolean isKept = queue.connected(reply, endpoint);
        acceptRequestsLater(); // the connection is no longer unconfirmed
        return isKept;
    }

    /**
     * Logs that a request could not be accepted: the client learns only that it was refused. The first failure of a
     * listener is logged at level INFO, others at DEBUG, since clients also give up.
     */
    void logRefusal(InetAddress source, Throwable why) {
        try {
            Level level = refusalLogged.compareAndSet(false, true) ? Level.INFO : Level.DEBUG;
            System.getLogger(StreamListener.class.getName())
                    .log(level, "A connection from " + source.getHostAddress() + " could not be accepted: " + why);
        } catch (OutOfMemoryError full) {
            return; // there is no memory for the message, either
        }
    }

    /** Removes a reply that has failed, so that the next request can be accepted. */
    void onFailed(AcceptQueue.Reply reply) {
        if (queue.failed(reply)) {
            acceptRequestsLater();
        }
    }

    /**
     * Accepts requests in a separate thread. If there is no memory for it, the requests wait for the next such thread
     * or for a call of {@link #accept}.
     */
    private void acceptRequestsLater() {
        try {
            Thread.ofVirtual().start(this::acceptRequests);
        } catch (OutOfMemoryError full) {
            // The established or failed connection of the caller does not depend on this thread.
            return;
        }
    }

    /**
     * Rejects a request in a separate thread, since its identifier cannot be closed while its event is being handled.
     */
    static void refuseLater(CmId child) {
        Thread.ofVirtual().start(() -> refuse(child));
    }

    static void refuse(CmId child) {
        try {
            child.reject(new byte[0]);
        } catch (RdmaException withdrawn) {
            WITHDRAWN.increment();
        } finally {
            child.close();
        }
    }

    private void acceptRequests() {
        StreamSettings settings = listener.settings();
        long bytes = settings.sizes().memoryBytes();
        while (true) {
            AcceptQueue.Reply next = queue.nextReply(bytes, listener.nanoTime());
            if (next != null) {
                acceptRequest(next);
                continue;
            }
            AcceptQueue.Reply overdue = queue.nextOverdue(bytes, listener.nanoTime());
            if (overdue == null) {
                retryWhenOverdue(bytes);
                return;
            }
            GIVEN_UP.increment();
            AcceptQueue.giveUp(overdue);
        }
    }

    private void acceptRequest(AcceptQueue.Reply next) {
        try {
            listener.another().acceptRequest(next, this);
        } catch (RuntimeException | Error failed) {
            if (!queue.putBack(next)) {
                refuseLater(next.request().id());
            }
            throw failed;
        }
    }

    private void retryWhenOverdue(long bytes) {
        long nanos = queue.untilOverdueNanos(bytes, listener.nanoTime());
        if (nanos >= 0 && retryScheduled.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(
                            nanos,
                            TimeUnit.NANOSECONDS,
                            task -> Thread.ofVirtual().start(task))
                    .execute(() -> {
                        retryScheduled.set(false);
                        acceptRequests();
                    });
        }
    }

    void close() {
        queue.close();
    }
}
