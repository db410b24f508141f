package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.wire.rsocket.ConnectData;
import org.jspecify.annotations.Nullable;

/**
 * What a listening endpoint does with requests: one after the other becomes an endpoint, as the backlog allows. Thread safe.
 */
final class StreamListening {
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

    StreamListening(StreamEndpoint listener, int backlog, WaitList waiting) {
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
        ConnectData peer = ConnectData.parse(event.privateData());
        CmId child = event.id();
        AcceptQueue.Request request = peer == null ? null : new AcceptQueue.Request(child, peer);
        if (request != null) {
            child.setContext(new Waiting(request));
        }
        if (request == null || !queue.offer(request)) {
            // The identifier cannot be closed while its event is being handled.
            Thread.ofVirtual().start(() -> refuse(child));
        } else {
            answerRequests();
        }
    }

    /** A connection is established; false if nobody can accept it any more. */
    boolean onConnected(StreamEndpoint endpoint) {
        return queue.connected(endpoint);
    }

    /** A connection that was under way came to nothing: the next may have its place. */
    void onFailed() {
        queue.failed();
        Thread.ofVirtual().start(this::answerRequests);
    }

    static void refuse(CmId child) {
        try {
            child.reject(new byte[0]);
        } finally {
            child.close();
        }
    }

    private void answerRequests() {
        AcceptQueue.Request next = queue.nextRequest();
        while (next != null) {
            new StreamEndpoint(listener.settings()).answer(next, this);
            next = queue.nextRequest();
        }
    }

    void close() {
        queue.close();
    }
}
