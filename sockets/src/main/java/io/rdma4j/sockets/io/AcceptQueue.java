package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a listener that nobody has accepted: those that are established, at most as many as the backlog says;
 * answers that the peer has not confirmed; and requests that wait for an answer.
 *
 * <p>An answer needs the memory of a connection, and whoever sends requests need not confirm it. So unconfirmed answers have
 * a budget of bytes, of which one address gets a part. Where the budget is spent, an answer that has waited for {@link
 * #PATIENCE_NANOS} makes room for a request. Thread safe.
 */
final class AcceptQueue {
    /** A request that waits for an answer. */
    record Request(CmId id, ConnectData peer, InetAddress source) {}

    /** An answer that the peer has not confirmed. */
    static final class Answer {
        private final Request request;
        private final long bytes;
        private final long sinceNanos;
        private volatile @Nullable StreamEndpoint endpoint;

        /** An answer to a request, with memory of so many bytes, since a time of {@link System#nanoTime}. */
        Answer(Request request, long bytes, long sinceNanos) {
            this.request = request;
            this.bytes = bytes;
            this.sinceNanos = sinceNanos;
        }

        Request request() {
            return request;
        }

        /** The endpoint that is to be connected. */
        @Nullable
        StreamEndpoint endpoint() {
            return endpoint;
        }

        void endpoint(StreamEndpoint made) {
            endpoint = made;
        }
    }

    /** Requests that wait for an answer; Linux does not remember more either. */
    static final int MOST_WAITING = 1024;

    /** Memory of unconfirmed answers: some eighty connections of the usual size. */
    static final long BUDGET_BYTES = 32L << 20;

    /** The part of the budget that one address gets. */
    static final int SHARES = 4;

    /** After this an unconfirmed answer makes room for a request: a peer that has missed it has been told once more. */
    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final int backlog;
    private final WaitList listening;
    private final ArrayDeque<StreamEndpoint> connected = new ArrayDeque<>();
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();

    /** The oldest first. */
    private final List<Answer> unconfirmed = new ArrayList<>();

    private final Map<InetAddress, Long> bytesBySource = new HashMap<>();
    private long unconfirmedBytes;
    private boolean closed;

    /** A queue for so many established connections; who waits for the listener is told of each. */
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

    /**
     * The next request to be answered, as an unconfirmed answer, or null. Sources take turns: the one with the fewest
     * unconfirmed answers comes first.
     *
     * @param bytes memory of the connection
     * @param nowNanos a time of {@link System#nanoTime}
     */
    synchronized @Nullable Answer nextAnswer(long bytes, long nowNanos) {
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
        waiting.remove(next);
        Answer answer = new Answer(next, bytes, nowNanos);
        unconfirmed.add(answer);
        unconfirmedBytes += bytes;
        bytesBySource.put(next.source(), least + bytes);
        return answer;
    }

    /** Whether so many bytes more are within a limit; who has none may always have a connection. */
    private static boolean fits(long held, long bytes, long most) {
        return held == 0 || held + bytes <= most;
    }

    private long bytesOf(InetAddress source) {
        return bytesBySource.getOrDefault(source, 0L);
    }

    /** Takes an unconfirmed answer out that has been there too long while a request could use its memory, or null. */
    synchronized @Nullable Answer nextOverdue(long bytes, long nowNanos) {
        Answer oldest = oldestInTheWay(bytes);
        if (oldest == null || nowNanos - oldest.sinceNanos < PATIENCE_NANOS) {
            return null;
        }
        forget(oldest);
        return oldest;
    }

    /** How long it is until {@link #nextOverdue} may have one; -1 while nothing waits for it. */
    synchronized long untilOverdueNanos(long bytes, long nowNanos) {
        Answer oldest = oldestInTheWay(bytes);
        return oldest == null ? -1 : Math.max(0, PATIENCE_NANOS - (nowNanos - oldest.sinceNanos));
    }

    private @Nullable Answer oldestInTheWay(long bytes) {
        if (closed || waiting.isEmpty() || connected.size() >= backlog) {
            return null;
        }
        Predicate<Answer> isInTheWay = fits(unconfirmedBytes, bytes, BUDGET_BYTES)
                ? answer -> waiting.stream()
                        .anyMatch(request ->
                                request.source().equals(answer.request().source()))
                : answer -> true;
        return unconfirmed.stream().filter(isInTheWay).findFirst().orElse(null);
    }

    private boolean forget(Answer answer) {
        if (!unconfirmed.remove(answer)) {
            return false;
        }
        unconfirmedBytes -= answer.bytes;
        bytesBySource.computeIfPresent(
                answer.request().source(), (source, held) -> held == answer.bytes ? null : held - answer.bytes);
        return true;
    }

    /** A connection is established; false if the listener is closed. */
    boolean connected(Answer answer, StreamEndpoint endpoint) {
        synchronized (this) {
            forget(answer);
            if (closed) {
                return false;
            }
            connected.add(endpoint);
        }
        listening.signalAll();
        return true;
    }

    /** An answer came to nothing; false if it is out already. */
    synchronized boolean failed(Answer answer) {
        return forget(answer);
    }

    synchronized @Nullable StreamEndpoint poll() {
        return connected.poll();
    }

    synchronized boolean isEmpty() {
        return connected.isEmpty();
    }

    /** Takes no more; what it holds goes. */
    void close() {
        List<StreamEndpoint> endpoints;
        List<Answer> answers;
        List<Request> requests;
        synchronized (this) {
            closed = true;
            endpoints = List.copyOf(connected);
            answers = List.copyOf(unconfirmed);
            requests = List.copyOf(waiting);
            connected.clear();
            waiting.clear();
        }
        endpoints.forEach(StreamEndpoint::closeWithoutWaiting);
        answers.forEach(AcceptQueue::giveUp);
        requests.forEach(request -> request.id().close());
    }

    /** Lets go of an answer that the peer has not confirmed. */
    static void giveUp(Answer answer) {
        StreamEndpoint endpoint = answer.endpoint();
        if (endpoint != null) {
            endpoint.giveUpUnconfirmed();
        }
    }
}
