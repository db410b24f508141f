package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Opens many connections concurrently in one thread, and closes them. Not thread safe. */
final class ConnectionBurst {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration EVENT_TIMEOUT = Duration.ofSeconds(10);

    private final EventChannel channel = EventChannel.open();
    private final InetSocketAddress source = new InetSocketAddress(WorkerAddresses.CLIENT, 0);
    private final InetSocketAddress destination;
    private final List<CmId> open = new ArrayList<>();

    ConnectionBurst(int port) {
        destination = new InetSocketAddress(WorkerAddresses.SERVER, port);
    }

    /** Opens {@code count} more connections. */
    void open(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            CmId id = channel.createId(PortSpace.TCP);
            open.add(id);
            id.resolveAddress(source, destination, TIMEOUT);
        }
        for (int established = 0; established < count; ) {
            if (step()) {
                established++;
            }
        }
    }

    /** Handles an event; returns whether it established a connection. */
    private boolean step() throws IOException {
        try (CmEvent event = channel.await(EVENT_TIMEOUT)) {
            if (event == null) {
                throw new IOException("no event within " + EVENT_TIMEOUT);
            }
            CmId id = event.id();
            switch (event.type()) {
                case ADDRESS_RESOLVED -> id.resolveRoute(TIMEOUT);
                case ROUTE_RESOLVED -> {
                    id.setContext(SharedQueues.of(id).createQueuePair(id));
                    id.connect();
                }
                case ESTABLISHED -> {
                    return true;
                }
                default -> throw new IOException("connecting failed: " + event);
            }
            return false;
        }
    }

    /** Closes all connections. */
    void close() throws IOException {
        for (CmId id : open) {
            id.disconnect();
        }
        for (int remaining = open.size(); remaining > 0; remaining--) {
            try (CmEvent event = channel.await(EVENT_TIMEOUT)) {
                if (event == null || event.type() != CmEvent.Type.DISCONNECTED) {
                    throw new IOException("disconnecting failed: " + event);
                }
            }
        }
        for (CmId id : open) {
            id.destroyQueuePair();
            id.close();
        }
        open.clear();
    }
}
