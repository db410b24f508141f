package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.wire.rsocket.ConnectData;
import org.jspecify.annotations.Nullable;

/** What a listening endpoint does with requests: one after the other becomes an endpoint, as the backlog allows. */
final class StreamListening {
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
        if (peer == null || !queue.offer(new AcceptQueue.Request(child, peer))) {
            // The identifier cannot be closed while its event is being handled.
            Thread.ofVirtual().start(() -> refuse(child));
        } else {
            answerRequests();
        }
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
            new StreamEndpoint(listener.settings()).answer(next, queue);
            next = queue.nextRequest();
        }
    }

    void close() {
        queue.close();
    }
}
