package io.rdma4j.link;

/**
 * An additional UDP source port of a link. Routers and network cards choose paths and queues by it, so frames of different flows
 * may take different ones. A link only sends from the port of a flow; the system drops frames that arrive there. Like its link, a
 * flow is used by one thread at a time.
 */
public interface Flow extends AutoCloseable {
    /** Returns the UDP source port. */
    int sourcePort();

    /** Returns whether the flow can still be sent from: it and its link are open. */
    boolean isOpen();

    /** Closes the flow. Closing it again has no effect. */
    @Override
    void close();
}
