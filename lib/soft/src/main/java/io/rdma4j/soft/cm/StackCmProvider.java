package io.rdma4j.soft.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.wire.cm.AbandonedConnection;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connection management of a stack. The first identifier starts it, together with the main engine; if that fails, the next
 * identifier tries again. Thread safe.
 */
public final class StackCmProvider implements CmProvider {
    private final SoftDevices devices;

    /** Guarded by this object, and read without it. */
    private volatile @Nullable CmService service;

    private volatile boolean closed;

    /** Creates the provider; starts nothing. */
    public StackCmProvider(SoftDevices devices) {
        this.devices = devices;
    }

    @Override
    public String name() {
        return "soft";
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public boolean hasDevices() {
        return devices.isAny();
    }

    @Override
    public List<Device> devices() {
        return List.copyOf(devices.list());
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return devices.host().sourceFor(operation, source, destination);
    }

    @Override
    public boolean serves(InetAddress local) {
        return devices.of(local) != null;
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        CmService running = service;
        return running == null ? null : running.engine();
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        if (closed) {
            throw new ClosedException("rdma_create_id", "the stack is closed", "Create another stack");
        }
        CmService running = service;
        return (running != null ? running : start()).create(portSpace, queuePairType, sink);
    }

    private synchronized CmService start() {
        CmService running = service;
        if (running == null) {
            running = CmService.start(devices);
            service = running;
        }
        return running;
    }

    /** Returns the open identifiers, as text. */
    public List<String> openIdentifiers() {
        CmService running = service;
        return running == null ? List.of() : running.openIdentifiers();
    }

    /** Refuses new identifiers, because the stack is being closed. */
    public void close() {
        closed = true;
    }

    /**
     * Disconnects connections of processes of this host that have exited, on their behalf.
     *
     * @return the number of connections with a local address that this stack can use
     */
    public int disconnectAbandoned(List<AbandonedConnection> connections) {
        CmService running = service;
        return (running != null ? running : start()).disconnectAbandoned(connections);
    }

    /** Returns whether a disconnected peer has not replied yet, and requests to it are still repeated. */
    public boolean isDisconnecting() {
        CmService running = service;
        return running != null && running.isDisconnecting();
    }

    @Override
    public @Nullable Path connectionsFile() {
        CmService running = service;
        return running == null ? null : running.connectionsFile();
    }

    /** Disconnects from all peers, because the stack or the process ends. Waits at most 0.2 seconds. */
    @Override
    public void finish() {
        CmService running = service;
        if (running != null) {
            running.finish();
        }
    }
}
