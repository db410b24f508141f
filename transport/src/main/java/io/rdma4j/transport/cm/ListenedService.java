package io.rdma4j.transport.cm;

/** A registered listener; made by {@link CmAgent#listen}. */
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

    /** The service ID. */
    public long serviceId() {
        return serviceId;
    }

    /** Requests that may wait for an answer of the owner. */
    public int backlog() {
        return backlog;
    }

    /** Requests that wait for an answer of the owner, 0 to {@link #backlog}. */
    public int waiting() {
        return waiting;
    }

    CmListener listener() {
        return listener;
    }

    void enter() {
        waiting++;
    }

    void leave() {
        waiting--;
    }

    /** Takes no more requests; connections made by this listener stay. Closing again does nothing. */
    @Override
    public void close() {
        agent.remove(this);
    }
}
