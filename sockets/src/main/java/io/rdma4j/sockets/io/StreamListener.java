package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What a listening endpoint does with requests: one after the other becomes an endpoint, as its queue allows. Thread safe.
 */
final class StreamListener {
    /** Requests that were to be refused when their senders had taken them back. */
    static final LongAdder TAKEN_BACK = new LongAdder();

    /** Answers that were given up because the peer did not confirm them and others waited. */
    static final LongAdder GIVEN_UP = new LongAdder();

    /** A request that waits for its turn; what becomes of it meanwhile is none of the listener's events. */
    private final class Waiting implements ConnectionService.Target {
        private final AcceptQueue.Request request;

        Waiting(AcceptQueue.Request request) {
            this.request = request;
        }

        @Override
        public void onEvent(CmEvent event) {
            switch (event.type()) {
                case REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED, DEVICE_REMOVAL -> {
                    if (queue.withdraw(request)) {
                        Thread.ofVirtual().start(request.id()::close); // not while its event is being handled
                    }
                }
                default -> {
                    // Its turn is still to come.
                }
            }
        }
    }

    private final StreamEndpoint listener;
    private final AcceptQueue queue;
    private final AtomicBoolean looksAgain = new AtomicBoolean();

    StreamListener(StreamEndpoint listener, int backlog, WaitList waiting) {
        this.listener = listener;
        this.queue = new AcceptQueue(backlog, waiting);
    }

    /** A connection that has come, or null. */
    @Nullable
    StreamEndpoint accept() {
        StreamEndpoint next = queue.poll();
        if (next != null) {
            answerRequests();
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
            child.setContext(new Waiting(request));
        }
        if (request == null || !queue.offer(request)) {
            refuseLater(child);
        } else {
            answerRequests();
        }
    }

    /** The request of an identifier, or null if it says nothing that a stream could be made of. */
    private static AcceptQueue.@Nullable Request request(CmId child, @Nullable ConnectData peer) {
        InetSocketAddress source = child.peerAddress();
        return peer == null || source == null ? null : new AcceptQueue.Request(child, peer, source.getAddress());
    }

    /** A connection is established; false if nobody can accept it any more. */
    boolean onConnected(AcceptQueue.Answer answer, StreamEndpoint endpoint) {
        boolean isKept = queue.connected(answer, endpoint);
        Thread.ofVirtual().start(this::answerRequests); // its place among the unconfirmed is free
        return isKept;
    }

    /** An answer came to nothing: the next request may have its place. */
    void onFailed(AcceptQueue.Answer answer) {
        if (queue.failed(answer)) {
            Thread.ofVirtual().start(this::answerRequests);
        }
    }

    /** Refuses a request whose event is being handled: its identifier cannot be closed before that is over. */
    static void refuseLater(CmId child) {
        Thread.ofVirtual().start(() -> refuse(child));
    }

    static void refuse(CmId child) {
        try {
            child.reject(new byte[0]);
        } catch (RdmaException takenBack) {
            TAKEN_BACK.increment();
        } finally {
            child.close();
        }
    }

    private void answerRequests() {
        StreamSettings settings = listener.settings();
        long bytes = settings.sizes().memoryBytes();
        while (true) {
            AcceptQueue.Answer next = queue.nextAnswer(bytes, System.nanoTime());
            if (next != null) {
                new StreamEndpoint(settings).answer(next, this);
                continue;
            }
            AcceptQueue.Answer overdue = queue.nextOverdue(bytes, System.nanoTime());
            if (overdue == null) {
                lookAgainWhenOverdue(bytes);
                return;
            }
            GIVEN_UP.increment();
            AcceptQueue.giveUp(overdue);
        }
    }

    private void lookAgainWhenOverdue(long bytes) {
        long nanos = queue.untilOverdueNanos(bytes, System.nanoTime());
        if (nanos >= 0 && looksAgain.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(
                            nanos,
                            TimeUnit.NANOSECONDS,
                            look -> Thread.ofVirtual().start(look))
                    .execute(() -> {
                        looksAgain.set(false);
                        answerRequests();
                    });
        }
    }

    void close() {
        queue.close();
    }
}
