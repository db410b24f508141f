package io.rdma4j.transport.cm;

/** A registered datagram service; made by {@link CmAgent#serve}. */
public final class ListenedDatagramService implements AutoCloseable {
    private final ServiceTable table;
    private final long serviceId;
    private final ServiceListener listener;
    private final int backlog;
    private int waiting;

    ListenedDatagramService(ServiceTable table, long serviceId, ServiceListener listener, int backlog) {
        this.table = table;
        this.serviceId = serviceId;
        this.listener = listener;
        this.backlog = backlog;
    }

    /** The service ID. */
    public long serviceId() {
        return serviceId;
    }

    /** Requests that wait for an answer of the owner, 0 to the backlog. */
    public int waiting() {
        return waiting;
    }

    ServiceListener listener() {
        return listener;
    }

    boolean isFull() {
        return waiting >= backlog;
    }

    void enter() {
        waiting++;
    }

    void leave() {
        waiting--;
    }

    /** Takes no more requests; those that came before stay. Closing again does nothing. */
    @Override
    public void close() {
        table.remove(this);
    }
}
