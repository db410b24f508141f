package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMessage;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * A registered listener, created by {@link CmAgent#listen} or {@link CmAgent#serve}.
 *
 * @param <M> the kind of request
 */
public final class ListenedService<M extends CmMessage> implements AutoCloseable {
    private final ListenerTable<M> table;
    private final long serviceId;
    private final RequestFilter<M> filter;
    private final int backlog;
    private final Object attachment;
    private int waiting;

    /** The connections in the backlog whose peers have withdrawn their requests, oldest first. */
    private final SequencedSet<CmConnection> withdrawn = new LinkedHashSet<>();

    ListenedService(ListenerTable<M> table, long serviceId, RequestFilter<M> filter, int backlog, Object attachment) {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog is " + backlog + ", must be at least 1");
        }
        this.table = table;
        this.serviceId = serviceId;
        this.filter = filter;
        this.backlog = backlog;
        this.attachment = attachment;
    }

    /** Returns the service ID. */
    public long serviceId() {
        return serviceId;
    }

    /** Returns the owner's object. */
    public Object attachment() {
        return attachment;
    }

    /** Returns the maximum number of requests that may wait for the owner to take or answer them. */
    public int backlog() {
        return backlog;
    }

    /** Returns the number of requests that the owner has neither taken nor answered, 0 to {@link #backlog}. */
    public int waiting() {
        return waiting;
    }

    RequestFilter<M> filter() {
        return filter;
    }

    void enterBacklog() {
        waiting++;
    }

    void leaveBacklog() {
        waiting--;
    }

    void withdraw(CmConnection connection) {
        withdrawn.add(connection);
    }

    void leaveBacklog(CmConnection connection) {
        leaveBacklog();
        withdrawn.remove(connection);
    }

    /** Returns the oldest connection in the backlog whose request was withdrawn, or null. */
    @Nullable
    CmConnection oldestWithdrawn() {
        return withdrawn.isEmpty() ? null : withdrawn.getFirst();
    }

    /** Stops accepting requests; earlier requests and connections are kept. Closing again has no effect. */
    @Override
    public void close() {
        table.remove(this);
    }
}
