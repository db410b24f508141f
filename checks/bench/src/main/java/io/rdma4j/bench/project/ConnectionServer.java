package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;

/** Accepts all connections in one thread, and closes those that the peer disconnects. */
final class ConnectionServer implements AutoCloseable {
    private final EventChannel channel = EventChannel.open();
    private final CmId listener = channel.createId(PortSpace.TCP);
    private final Thread thread;
    private volatile int established;

    ConnectionServer() {
        listener.bindAddress(new InetSocketAddress(WorkerAddresses.SERVER, 0));
        listener.listen(0);
        thread = Thread.ofPlatform().daemon().name("connections").start(this::serve);
    }

    int port() {
        return listener.sourcePort();
    }

    /** Returns the number of open connections. */
    int established() {
        return established;
    }

    private void serve() {
        try {
            while (true) {
                serve(channel.await());
            }
        } catch (ClosedException ended) {
            return;
        }
    }

    private void serve(CmEvent event) {
        CmId id = event.id();
        CmEvent.Type type = event.type();
        event.close();
        try {
            handle(type, id);
        } catch (RdmaException failure) {
            close(id);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only this thread writes the counter
    private void handle(CmEvent.Type type, CmId id) {
        switch (type) {
            case CONNECT_REQUEST -> {
                id.setContext(SharedQueues.of(id).createQueuePair(id));
                id.accept();
            }
            case ESTABLISHED -> established++;
            case DISCONNECTED -> {
                established--;
                id.disconnect();
                close(id);
            }
            case CONNECT_ERROR, UNREACHABLE, REJECTED -> close(id);
            default -> {}
        }
    }

    private static void close(CmId id) {
        id.destroyQueuePair();
        id.close();
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
