package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.Message;
import io.rdma4j.verbs.RemoteAccessException;
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

/** A server gives a client access to a mapped file, and revokes it when the client has read the file. */
public final class Lifetimes {
    private static final String TEXT = "the content of the file";

    private Lifetimes() {}

    /** Runs server and client, each in a thread. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path file = Files.createTempFile("lifetimes-", ".txt");
        try (Listener listener = Listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Files.writeString(file, TEXT);
            Thread server = Thread.ofPlatform().start(() -> serve(listener, file));
            read(listener.address());
            server.join();
        } finally {
            Files.delete(file);
        }
    }

    // tag::file[]
    private static Exposed expose(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment content = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            return Exposed.of(content, Access.READ);
        }
    }
    // end::file[]

    // tag::revoke[]
    private static void serve(Listener listener, Path file) {
        try (Connection client = listener.accept()
                        .messages(1, RemoteMemory.ENCODED_BYTES)
                        .accept();
                Buffer message = client.allocate(RemoteMemory.ENCODED_BYTES)) {
            try (Exposed content = expose(file)) {
                message.memory()
                        .copyFrom(MemorySegment.ofArray(content.at(client).encode()));
                client.send(message);
                client.receive().close(); // the client has read the file
            } // now no peer can access the file
            client.send(message);
            client.awaitEnd();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
    // end::revoke[]

    private static void read(InetSocketAddress address) {
        try (Connection server = Connection.to(address)
                        .messages(1, RemoteMemory.ENCODED_BYTES)
                        .connect();
                Buffer copy = server.allocate(TEXT.length())) {
            RemoteMemory file;
            try (Message message = server.receive()) {
                file = RemoteMemory.decode(message.memory().toArray(ValueLayout.JAVA_BYTE));
            }
            server.read(copy, file);
            System.out.println("client: read "
                    + StandardCharsets.UTF_8.decode(copy.memory().asByteBuffer()));
            server.send(copy.slice(0, 1));
            server.receive().close(); // the server has revoked the access
            server.read(copy, file);
        } catch (RemoteAccessException e) {
            System.out.println("client: " + e.getMessage());
        }
    }
}
