package io.rdma4j.bench.project;

import io.rdma4j.Access;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;

/** One end of a {@link Connection}, with memory that the peer may write and read. Not thread safe. */
final class LayerEnd implements AutoCloseable {
    private final Connection connection;
    private final Exposed exposed;
    private final Arena arena;
    private final WorkCompletion[] completions = WorkCompletion.array(1);

    private LayerEnd(Connection connection, Exposed exposed, Arena arena) {
        this.connection = connection;
        this.exposed = exposed;
        this.arena = arena;
        // Like in the measurements of verbs: an end that gets no processor for a while runs out of places for messages.
        connection.queuePair().modify(new QueuePairAttributes().minRnrTimer(RdmaEnd.RNR_TIMER));
    }

    /**
     * Creates the passive end.
     *
     * @param exposedBytes the length of the memory that the peer may use
     */
    static LayerEnd serve(Control control, ConnectionOptions options, long exposedBytes) throws IOException {
        try (Listener listener = Listener.bind(new InetSocketAddress(WorkerAddresses.SERVER, 0))) {
            control.send(listener.address().getPort());
            Arena arena = Arena.ofShared();
            Exposed exposed = exposed(arena, exposedBytes);
            return new LayerEnd(
                    listener.accept().options(options).privateData(exposed).accept(), exposed, arena);
        }
    }

    /** Creates the active end. */
    static LayerEnd connect(Control control, ConnectionOptions options, long exposedBytes) throws IOException {
        InetSocketAddress listener = new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive());
        Arena arena = Arena.ofShared();
        Exposed exposed = exposed(arena, exposedBytes);
        return new LayerEnd(
                Connection.to(listener)
                        .from(new InetSocketAddress(WorkerAddresses.CLIENT, 0))
                        .options(options)
                        .privateData(exposed)
                        .connect(),
                exposed,
                arena);
    }

    private static Exposed exposed(Arena arena, long bytes) {
        return Exposed.of(arena.allocate(bytes, 4096), Access.READ, Access.WRITE);
    }

    Connection connection() {
        return connection;
    }

    /**
     * Drives the device once, like the passive ends of the measurements of verbs. Only for a connection without
     * messages, whose queue of receive completions stays empty.
     */
    void drive() throws IOException {
        if (connection.queuePair().receiveCompletions().poll(completions) > 0) {
            throw new IOException("a message has arrived: " + completions[0]);
        }
    }

    @Override
    public void close() {
        connection.close();
        exposed.close();
        arena.close();
    }
}
