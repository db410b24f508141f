package io.rdma4j.soft.guardian;

import io.rdma4j.soft.cm.StackCmProvider;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.wire.cm.AbandonedConnection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Disconnects peers through a stack that exists until they have replied. The stack shares addresses with the user's processes,
 * like any process. Not thread safe.
 */
final class Disconnector implements AutoCloseable {
    private final Supplier<StackSettings> settings;
    private @Nullable SoftDevices devices;
    private @Nullable StackCmProvider provider;

    Disconnector(Supplier<StackSettings> settings) {
        this.settings = settings;
    }

    /**
     * Disconnects connections.
     *
     * @return the number of connections with a local address that this host still has
     */
    int disconnect(List<AbandonedConnection> connections) {
        StackCmProvider running = provider;
        if (running == null) {
            SoftDevices created = new SoftDevices(settings.get());
            devices = created;
            running = new StackCmProvider(created);
            provider = running;
        }
        return running.disconnectAbandoned(connections);
    }

    /** Closes the stack if all peers have replied, or requests to them are no longer repeated. Returns whether it is closed. */
    boolean closeIfDone() {
        StackCmProvider running = provider;
        if (running != null && running.isDisconnecting()) {
            return false;
        }
        close();
        return true;
    }

    @Override
    public void close() {
        SoftDevices opened = devices;
        devices = null;
        provider = null;
        if (opened != null) {
            opened.close();
        }
    }
}
