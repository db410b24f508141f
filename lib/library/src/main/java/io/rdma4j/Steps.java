package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The steps that connect, resolve or join an identifier, each with its event, within one timeout. Used by one thread. */
final class Steps {
    private final EventChannel channel;
    private final String operation;
    private final String peer;
    private final Deadline deadline;

    /**
     * Starts the timeout.
     *
     * @param channel the channel, to which only this identifier reports
     * @param operation the call, for messages
     * @param peer the address that has to answer, for messages
     */
    Steps(EventChannel channel, String operation, String peer, Duration timeout) {
        this.channel = channel;
        this.operation = operation;
        this.peer = peer;
        deadline = new Deadline(channel, timeout);
    }

    /** Returns the remaining time. */
    Duration remaining() {
        return deadline.remaining();
    }

    /** Resolves the address and the route of a peer. */
    void resolve(CmId id, @Nullable InetSocketAddress source, InetSocketAddress peer) {
        id.resolveAddress(source, peer, remaining());
        await(CmEvent.Type.ADDRESS_RESOLVED);
        id.resolveRoute(remaining());
        await(CmEvent.Type.ROUTE_RESOLVED);
    }

    /** Waits for the event of a step, and throws the failure that another event reports. Returns the event, acknowledged. */
    CmEvent await(CmEvent.Type type) {
        try (CmEvent event = channel.await(deadline.remaining())) {
            if (event == null) {
                throw new RdmaTimeoutException(
                        operation,
                        "the peer has not answered in time: " + peer,
                        "Check that its host is up, that UDP port 4791 is open both ways, and that its program is not stopped");
            }
            if (event.type() != type) {
                throw event.toException(operation);
            }
            return event;
        }
    }
}
