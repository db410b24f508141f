package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
        try (CmId listener = CmId.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CmQueuePairAttributes.defaults())) {
            Files.writeString(file, TEXT);
            Thread server = Thread.ofPlatform().start(() -> serve(listener, file));
            read(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()));
            server.join();
        } finally {
            Files.delete(file);
        }
    }

    // tag::file[]
    private static MemoryRegion register(Path file, Arena arena, ProtectionDomain domain) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment content = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return domain.register(content, AccessFlag.REMOTE_READ);
        }
    }
    // end::file[]

    // tag::revoke[]
    private static void serve(CmId listener, Path file) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion message = new CmVerbs(connection).register(arena.allocate(1))) {
            CmVerbs verbs = new CmVerbs(connection);
            verbs.postReceive(1, message, 0, 1); // before accepting, so that the message cannot come too early
            try (MemoryRegion content = register(file, arena, connection.protectionDomain())) {
                connection.accept(ConnectionParameters.defaults()
                        .withPrivateData(content.remote().encode()));
                var _ = verbs.awaitReceiveCompletion(); // the client has read the file
            } // from here on, no peer can access the file
            verbs.send(message);
            connection.awaitDisconnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
    // end::revoke[]

    private static void read(InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = CmId.connect(server, CmQueuePairAttributes.defaults());
                MemoryRegion message = new CmVerbs(connection).register(arena.allocate(1));
                MemoryRegion copy = new CmVerbs(connection).register(arena.allocate(TEXT.length()))) {
            RemoteMemory file = RemoteMemory.decode(connection.peerPrivateData());
            CmVerbs verbs = new CmVerbs(connection);
            verbs.read(copy, file);
            System.out.println("client: read "
                    + StandardCharsets.UTF_8.decode(copy.memory().asByteBuffer()));
            verbs.postReceive(1, message, 0, 1);
            verbs.send(message);
            var _ = verbs.awaitReceiveCompletion(); // the server has revoked the access
            verbs.read(copy, file);
        } catch (RdmaException e) {
            System.out.println("client: " + e.getMessage());
        }
    }
}
