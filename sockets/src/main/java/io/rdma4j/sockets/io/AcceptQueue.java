package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.wire.rsocket.ConnectData;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a listener that nobody has accepted: some that are being set up or are connected, at most as many as
 * the backlog says, and requests that wait for their turn. Thread safe.
 */
final class AcceptQueue {
    /** A request that waits for its turn. */
    record Request(CmId id, ConnectData peer) {}

    /** Requests that wait for their turn; Linux does not remember more either. */
    static final int MOST_WAITING = 1024;

    private final int backlog;
    private final WaitList listening;
    private final ArrayDeque<StreamEndpoint> connected = new ArrayDeque<>();
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private int underWay;
    private boolean closed;

    /** A queue for so many connections; who waits for the listener is told of each. */
    AcceptQueue(int backlog, WaitList listening) {
        this.backlog = Math.max(1, backlog);
        this.listening = listening;
    }

    /** Takes a request in; false if there are too many. */
    synchronized boolean offer(Request request) {
        if (closed || waiting.size() >= MOST_WAITING) {
            return false;
        }
        waiting.add(request);
        return true;
    }

    /** Takes a request out again; false if it is not there any more. */
    synchronized boolean withdraw(Request request) {
        return waiting.remove(request);
    }

    /** The next request whose turn it is, or null; its connection is then under way. */
    synchronized @Nullable Request nextRequest() {
        if (closed || underWay + connected.size() >= backlog) {
            return null;
        }
        Request next = waiting.poll();
        if (next != null) {
            underWay++;
        }
        return next;
    }

    /** A connection is established; false if the listener is closed. */
    boolean connected(StreamEndpoint endpoint) {
        synchronized (this) {
            underWay--;
            if (closed) {
                return false;
            }
            connected.add(endpoint);
        }
        listening.signalAll();
        return true;
    }

    /** A connection that was under way came to nothing. */
    synchronized void failed() {
        underWay--;
    }

    synchronized @Nullable StreamEndpoint poll() {
        return connected.poll();
    }

    synchronized boolean isEmpty() {
        return connected.isEmpty();
    }

    /** Takes no more; what it holds goes. */
    void close() {
        ArrayDeque<StreamEndpoint> endpoints;
        ArrayDeque<Request> requests;
        synchronized (this) {
            closed = true;
            endpoints = new ArrayDeque<>(connected);
            requests = new ArrayDeque<>(waiting);
            connected.clear();
            waiting.clear();
        }
        endpoints.forEach(StreamEndpoint::closeWithoutWaiting);
        requests.forEach(request -> request.id().close());
    }
}
