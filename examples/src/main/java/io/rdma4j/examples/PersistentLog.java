package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.RemoteMemory;
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
import java.util.Set;

/**
 * A log in a server's file, to which a client appends with WRITE, FLUSH and ATOMIC WRITE. The records survive a crash of the server
 * and a power failure of its host. Appending does not involve the server's thread.
 *
 * <p>The file starts with the number of bytes that follow. The number changes atomically, and only after the bytes of a record are
 * persistent. Therefore a program that reads the file after a failure finds only complete records.
 */
public final class PersistentLog {
    private static final int BYTES = 1 << 16;

    private static final Set<PlacementType> PERSISTENT = Set.of(PlacementType.PERSISTENT);

    private PersistentLog() {}

    /** Runs the server, and a client that appends two records. */
    public static void main(String[] arguments) throws InterruptedException, IOException {
        Path file = Files.createTempFile("persistent", ".log");
        try (Listener listener = Listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener, file));
            try (Client client = new Client(listener.address())) {
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
    private static void serve(Listener listener, Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Exposed log = Exposed.of(
                        channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, Arena.ofAuto()),
                        Access.WRITE,
                        Access.FLUSH_PERSISTENT);
                Connection client = listener.accept().privateData(log).accept()) {
            client.awaitEnd();
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
        private final Connection server;
        private final Batch batch;
        private final RemoteMemory head;
        private final RemoteMemory records;
        private final Buffer record;
        private long length;

        Client(InetSocketAddress address) {
            server = Connection.to(address).connect();
            batch = server.batch();
            RemoteMemory log = server.peer().memory();
            head = log.slice(0, Long.BYTES);
            records = log.slice(Long.BYTES, BYTES - Long.BYTES);
            record = server.allocate(1024);
        }

        // tag::append[]
        /** Appends a record. When this returns, the record is in persistent memory. */
        void append(String text) {
            byte[] bytes = (text + "\n").getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(bytes, 0, record.memory(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            RemoteMemory place = records.slice(length, bytes.length);
            length += bytes.length;
            batch.write(record.slice(0, bytes.length), place)
                    .flush(place, PERSISTENT)
                    .atomicWrite(head, length)
                    .flush(head, PERSISTENT)
                    .post()
                    .await();
        }
        // end::append[]

        @Override
        public void close() {
            server.close();
        }
    }
}
