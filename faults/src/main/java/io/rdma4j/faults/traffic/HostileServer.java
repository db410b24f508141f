package io.rdma4j.faults.traffic;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Answers connection requests of RDMA sockets with what its scripts want. Not thread safe. */
public final class HostileServer implements AutoCloseable {
    private static final int MOST_ACCEPTED = 196;
    private static final int MOST_REJECTED = 148;
    private static final BufferDescriptor NOWHERE = new BufferDescriptor(0x1000, 1, 2);

    /**
     * One answer.
     *
     * @param name what it does
     * @param answer to a request that has a queue pair
     */
    public record Script(String name, Consumer<CmId> answer) {}

    private final CmId listener = CmId.create(PortSpace.TCP, null);

    /** Listens. */
    public HostileServer(InetSocketAddress address) {
        listener.bindAddress(address);
        listener.listen(1);
    }

    /** Its port. */
    public int port() {
        return listener.sourcePort();
    }

    /** All, in order. */
    public static List<Script> scripts() {
        byte[] honest =
                new ConnectData(false, true, 384, 0, NOWHERE, new BufferDescriptor(0x2000, 1, 65_536)).toByteArray();
        return List.of(
                accepting("nothing", new byte[0]),
                accepting("half of what it should", Arrays.copyOf(honest, 20)),
                accepting("another version", changed(honest, 0, 2)),
                accepting("no credit", changed(changed(honest, 2, 0), 3, 0)),
                accepting("a table of -1", changed(honest, 20, 255)),
                accepting("a buffer of -1", changed(honest, 36, 255)),
                accepting("memory that is not there", honest),
                accepting("random bytes", random(MOST_ACCEPTED)),
                new Script("rejects with random bytes", id -> id.reject(random(MOST_REJECTED))),
                new Script("accepts and leaves", id -> {
                    id.accept(ConnectionParameters.defaults().withPrivateData(honest));
                    id.disconnect();
                }),
                new Script("does not answer, and leaves", id -> {}));
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
     * Waits for a request and answers it.
     *
     * @return the connection, to be closed when the client has had its time
     */
    public AutoCloseable run(Script script) {
        CmId id = listener.getRequest();
        id.createQueuePair(null, CmQueuePairAttributes.of(new QueuePairCapabilities(16, 16, 1, 1, 0)));
        script.answer().accept(id);
        return id;
    }

    @Override
    public void close() {
        listener.close();
    }
}
