package io.rdma4j.soft.cm;

import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmEvents;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import org.jspecify.annotations.Nullable;

/** Takes what happens to a connection to its identifier. Under the host's lock. */
final class ConnectionEvents implements CmEvents {
    private final @Nullable SoftCmId id;

    /** For the connection of an identifier; null for one that nobody wants to hear of. */
    ConnectionEvents(@Nullable SoftCmId id) {
        this.id = id;
    }

    @Override
    public void onReply(CmConnection connection, Rep reply) {
        if (id != null) {
            id.onReply(connection, reply);
        }
    }

    @Override
    public void onReadyToUse(CmConnection connection) {
        if (id != null) {
            id.onEstablished();
        }
    }

    @Override
    public void onReject(CmConnection connection, Rej reject) {
        if (id != null) {
            id.onReject(reject);
        }
    }

    @Override
    public void onUnreachable(CmConnection connection) {
        if (id != null) {
            id.onUnreachable(connection);
        }
    }

    @Override
    public void onDisconnectRequest(CmConnection connection) {
        if (id != null) {
            id.onDisconnected(false);
        }
    }

    @Override
    public void onDisconnected(CmConnection connection, boolean timedOut) {
        if (id != null) {
            id.onDisconnected(timedOut);
        }
    }

    @Override
    public void onTimewaitExit(CmConnection connection) {
        if (id != null) {
            id.onTimewaitExit();
        }
    }
}
