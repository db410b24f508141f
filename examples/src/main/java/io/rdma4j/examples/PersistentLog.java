package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.PlacementType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Set;

/**
 * A log in a file of a server, to which a client appends by WRITE, FLUSH and ATOMIC WRITE. The records survive
 * the end of the server, and of its machine. The thread of the server is not involved.
 *
 * <p>The file begins with the number of bytes that follow. The number changes at once, and only after the bytes of a record are
 * persistent. So a program that reads the file after a failure finds whole records.
 */
public final class PersistentLog {
    private static final int BYTES = 1 << 16;

    private static final Set<PlacementType> PERSISTENT = Set.of(PlacementType.PERSISTENT);

    private PersistentLog() {}

    /** Runs the server, and a client that appends two records. */
    public static void main(String[] arguments) throws InterruptedException, IOException {
        Path file = Files.createTempFile("persistent", ".log");
        try (CmId listener = CmId.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CmQueuePairAttributes.defaults())) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener, file));
            try (Client client =
                    new Client(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()))) {
                client.append("first");
                client.append("second");
            }
            server.join();
            System.out.println("the file contains: " + content(file));
        } finally {
            Files.delete(file);
        }
    }

    // tag::map[]
    private static void serve(CmId listener, Path file) {
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                CmId connection = listener.getRequest();
                MemoryRegion log = connection
                        .protectionDomain()
                        .register(
                                channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena),
                                AccessFlag.LOCAL_WRITE,
                                AccessFlag.REMOTE_WRITE,
                                AccessFlag.FLUSH_PERSISTENT)) {
            connection.accept(
                    ConnectionParameters.defaults().withPrivateData(log.remote().encode()));
            connection.awaitDisconnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
    // end::map[]

    /** Returns the records of a file. The number at its start has the byte order of the client. */
    private static String content(Path file) throws IOException {
        MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(file));
        long length = bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        return new String(bytes.asSlice(Long.BYTES, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** A client of the log, for one thread. */
    private static final class Client implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final CmId connection;
        private final CmVerbs verbs;
        private final QueuePair queuePair;
        private final RemoteMemory log;
        private final MemorySegment record = arena.allocate(1024);
        private final MemoryRegion region;
        private long length;

        Client(InetSocketAddress server) {
            connection = CmId.connect(server, CmQueuePairAttributes.defaults());
            verbs = new CmVerbs(connection);
            queuePair = Objects.requireNonNull(connection.queuePair());
            log = RemoteMemory.decode(connection.peerPrivateData());
            region = verbs.register(record);
        }

        // tag::append[]
        /** Appends a record. When this returns, the record is in persistent memory. */
        void append(String text) {
            byte[] bytes = (text + "\n").getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(bytes, 0, record, ValueLayout.JAVA_BYTE, 0, bytes.length);
            RemoteMemory place = log.slice(Long.BYTES + length, bytes.length);
            length += bytes.length;
            queuePair.postSend(new SendWorkRequest()
                    .reset(1)
                    .write(place.address(), place.key())
                    .from(region, 0, bytes.length));
            queuePair.postSend(SendWorkRequest.flush(2, place, PERSISTENT));
            RemoteMemory head = log.slice(0, Long.BYTES);
            queuePair.postSend(SendWorkRequest.atomicWrite(3, head, length));
            queuePair.postSend(SendWorkRequest.flush(4, head, PERSISTENT).signaled());
            verbs.awaitSendCompletion();
        }
        // end::append[]

        @Override
        public void close() {
            connection.disconnect();
            region.close();
            connection.close();
            arena.close();
        }
    }
}
