package io.rdma4j.acceptance.traffic;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Responds to connection requests of RDMA sockets as its scripts specify. Not thread safe. */
public final class HostileServer implements AutoCloseable {
    private static final int MAX_ACCEPT_DATA = 196;
    private static final int MAX_REJECT_DATA = 148;
    private static final BufferDescriptor INVALID_TABLE = new BufferDescriptor(0x1000, 1, 2);

    /**
     * A script for one connection request.
     *
     * @param name description of the script
     * @param handler handles the request, whose identifier has a queue pair
     */
    public record Script(String name, Consumer<CmId> handler) {}

    private final CmId listener = CmId.create(PortSpace.TCP);

    /** Listens on {@code address}. */
    public HostileServer(InetSocketAddress address) {
        listener.bindAddress(address);
        listener.listen(1);
    }

    /** Returns the port. */
    public int port() {
        return listener.sourcePort();
    }

    /** Returns all scripts in order. */
    public static List<Script> scripts() {
        byte[] correct = new ConnectData(false, true, 384, 0, INVALID_TABLE, new BufferDescriptor(0x2000, 1, 65_536))
                .toByteArray();
        return List.of(
                accepting("nothing", new byte[0]),
                accepting("half of the data", Arrays.copyOf(correct, 20)),
                accepting("another version", changed(correct, 0, 2)),
                accepting("no credit", changed(changed(correct, 2, 0), 3, 0)),
                accepting("a table of -1", changed(correct, 20, 255)),
                accepting("a buffer of -1", changed(correct, 36, 255)),
                accepting("unregistered memory", correct),
                accepting("random bytes", random(MAX_ACCEPT_DATA)),
                new Script("rejects with random bytes", id -> id.reject(random(MAX_REJECT_DATA))),
                new Script("accepts and disconnects", id -> {
                    id.accept(ConnectionParameters.defaults().withPrivateData(correct));
                    id.disconnect();
                }),
                new Script("closes without a response", id -> {}));
    }

    private static Script accepting(String name, byte[] data) {
        return new Script(
                "accepts with " + name,
                id -> id.accept(ConnectionParameters.defaults().withPrivateData(data)));
    }

    private static byte[] changed(byte[] data, int at, int value) {
        byte[] changed = data.clone();
        changed[at] = (byte) value;
        return changed;
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }

    /**
     * Waits for a connection request and runs a script.
     *
     * @return the connection, which the caller closes after the client has finished
     */
    public AutoCloseable run(Script script) {
        CmId id = listener.getRequest();
        id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(16, 16, 1, 1, 0)));
        script.handler().accept(id);
        return id;
    }

    @Override
    public void close() {
        listener.close();
    }
}
