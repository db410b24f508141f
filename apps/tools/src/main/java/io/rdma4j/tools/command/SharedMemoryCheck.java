package io.rdma4j.tools.command;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendRing;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Checks whether the processes of this host exchange packets through shared memory. */
public final class SharedMemoryCheck {
    private SharedMemoryCheck() {}

    /** Returns the reason why processes of this host exchange packets by UDP, or empty if they use shared memory. */
    public static Optional<String> obstacle() {
        try (LinkSet links = LinkSets.best()) {
            return LinkOptions.fromSystemProperties().sharedMemory()
                    ? obstacle(links)
                    : Optional.of("it is switched off by "
                            + (System.getProperty(LinkOptions.SHARED_MEMORY_PROPERTY) == null
                                    ? LinkOptions.SHARED_MEMORY_VARIABLE
                                    : LinkOptions.SHARED_MEMORY_PROPERTY));
        } catch (IOException | IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Tries to connect a ring from this process to itself. */
    private static Optional<String> obstacle(LinkSet links) throws IOException {
        Path folder = Files.createTempDirectory("rdma4j");
        Path socket = folder.resolve("r");
        try (RingListener listener = links.listenForRings(socket, false);
                SendRing ring = listener == null ? null : links.connectRing(socket, 0, 0)) {
            return ring == null ? Optional.of("the network is " + links.name() + ", which has none") : Optional.empty();
        } finally {
            Files.delete(folder);
        }
    }
}
