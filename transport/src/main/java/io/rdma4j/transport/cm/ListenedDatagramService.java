package io.rdma4j.transport.cm;

/** A registered datagram service, created by {@link CmAgent#serve}. */
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

    /** Returns the service ID. */
    public long serviceId() {
        return serviceId;
    }

    /** Returns the number of requests that wait for an answer of the owner, 0 to the backlog. */
    public int waiting() {
        return waiting;
    }

    ServiceListener listener() {
        return listener;
    }

    boolean isFull() {
        return waiting >= backlog;
    }

    void enterBacklog() {
        waiting++;
    }

    void leaveBacklog() {
        waiting--;
    }

    /** Stops accepting requests; earlier requests are kept. Closing again has no effect. */
    @Override
    public void close() {
        table.remove(this);
    }
}
