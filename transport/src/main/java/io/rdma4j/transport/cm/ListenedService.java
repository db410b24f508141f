package io.rdma4j.transport.cm;

/** A registered listener, created by {@link CmAgent#listen}. */
public final class ListenedService implements AutoCloseable {
    private final CmAgent agent;
    private final long serviceId;
    private final CmListener listener;
    private final int backlog;
    private int waiting;

    ListenedService(CmAgent agent, long serviceId, CmListener listener, int backlog) {
        this.agent = agent;
        this.serviceId = serviceId;
        this.listener = listener;
        this.backlog = backlog;
    }

    /** Returns the service ID. */
    public long serviceId() {
        return serviceId;
    }

    /** Returns the maximum number of requests that may wait for an answer of the owner. */
    public int backlog() {
        return backlog;
    }

    /** Returns the number of requests that wait for an answer of the owner, 0 to {@link #backlog}. */
    public int waiting() {
        return waiting;
    }

    CmListener listener() {
        return listener;
    }

    void enterBacklog() {
        waiting++;
    }

    void leaveBacklog() {
        waiting--;
    }

    /** Stops accepting requests; connections created by this listener are kept. Closing again has no effect. */
    @Override
    public void close() {
        agent.remove(this);
    }
}
