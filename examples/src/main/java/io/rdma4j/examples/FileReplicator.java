package io.rdma4j.examples;

import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Listener;
import io.rdma4j.Message;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.zip.CRC32C;

/** A client sends a file in chunks, no faster than the server writes them. The server answers with a checksum. */
public final class FileReplicator {
    private static final int CHUNK_BYTES = 1 << 16;
    private static final int PLACES = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private FileReplicator() {}

    /** Runs the server, a client that sends a file, and a client that disconnects after one chunk. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path file = Files.createTempFile("replicator-", ".file");
        Path copy = Path.of(file + ".copy");
        Files.writeString(file, "a line of the file\n".repeat(1_000_000));
        Thread server;
        try (Listener listener =
                Listener.bind(new InetSocketAddress(arguments.length > 0 ? arguments[0] : "127.0.0.1", 0))) {
            server = Thread.ofPlatform().start(() -> serve(listener, copy));
            send(file, listener.address());
            try (Connection leaving = Connection.to(listener.address()).connect();
                    Buffer chunk = leaving.allocate(CHUNK_BYTES)) {
                leaving.send(chunk);
            }
        }
        server.join();
        System.out.println("the copy is " + (Files.mismatch(file, copy) == -1 ? "complete" : "wrong"));
        Files.delete(file);
        Files.delete(copy);
    }

    // tag::server[]
    /** Receives one file after the other, until the listener is closed. */
    private static void serve(Listener listener, Path target) {
        for (ConnectionRequest request : listener) {
            try (Connection client = request.messages(PLACES, CHUNK_BYTES).accept()) {
                receive(client, target);
            } catch (RdmaException | IOException failed) {
                System.out.println("server: a client has failed and leaves no incomplete file: " + failed.getMessage());
            }
        }
    }

    /** Receives a file, which gets its name when it is complete. */
    private static void receive(Connection client, Path target) throws IOException {
        Path part = Files.createTempFile(target.getParent(), "incomplete-", null);
        CRC32C checksum = new CRC32C();
        try (FileChannel file = FileChannel.open(part, StandardOpenOption.WRITE);
                Buffer answer = client.allocate(Long.BYTES)) {
            boolean isComplete = false;
            while (!isComplete) {
                try (Message chunk = client.receive(PATIENCE)) { // occupies a place until it is closed
                    ByteBuffer bytes = chunk.memory().asByteBuffer();
                    isComplete = !bytes.hasRemaining(); // an empty message follows the last chunk
                    checksum.update(bytes.duplicate());
                    while (bytes.hasRemaining()) {
                        file.write(bytes);
                    }
                }
            }
            file.force(true);
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
            answer.memory().set(ValueLayout.JAVA_LONG, 0, checksum.getValue());
            client.send(answer, PATIENCE);
        } finally {
            Files.deleteIfExists(part);
        }
    }
    // end::server[]

    // tag::client[]
    /** Sends a file. When this returns, the server has written it. */
    private static void send(Path path, InetSocketAddress address) throws IOException {
        CRC32C checksum = new CRC32C();
        try (FileChannel file = FileChannel.open(path);
                Connection server =
                        Connection.to(address).messages(1, Long.BYTES).connect();
                Buffer source = server.allocate(file.size())) {
            ByteBuffer content = source.memory().asByteBuffer();
            while (content.hasRemaining() && file.read(content) >= 0) {}
            checksum.update(content.flip());
            Batch batch = server.batch();
            for (long sent = 0; sent < source.lengthBytes(); sent += CHUNK_BYTES) {
                long bytes = Math.min(CHUNK_BYTES, source.lengthBytes() - sent);
                batch.send(source.slice(sent, bytes)).post();
            }
            batch.send(source.slice(0, 0)).post().await();
            try (Message answer = server.receive(PATIENCE)) {
                boolean isSame = answer.memory().get(ValueLayout.JAVA_LONG, 0) == checksum.getValue();
                System.out.println("client: the checksum is " + (isSame ? "the same" : "another"));
            }
        }
    }
    // end::client[]
}
