package io.rdma4j.soft.report;

import io.rdma4j.link.TextListener;
import io.rdma4j.link.system.LinkSets;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.verbs.spi.SharedThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the report of a stack to each process that connects to a Unix-domain socket in the run directory.
 *
 * <p>Only processes of the same user can connect, since only they may enter the run directory. The server reads nothing from
 * them, and gives up on a reader that does not read. Its thread blocks in the kernel until a process connects.
 */
public final class ReportServer implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger(ReportServer.class.getName());

    /** The pause after a failure, such as a lack of descriptors. */
    private static final long FAILURE_PAUSE_MILLIS = 100;

    private final Path socket;
    private final TextListener listener;
    private final Supplier<StackReport> reports;
    private final AtomicBoolean closed = new AtomicBoolean();

    private ReportServer(Path socket, TextListener listener, Supplier<StackReport> reports) {
        this.socket = socket;
        this.listener = listener;
        this.reports = reports;
    }

    /**
     * Starts a server.
     *
     * @param directory the run directory
     * @param slot the slot of the stack, which names the socket
     * @param reports creates a report; called by the thread of the server
     * @return the server, or null if the system has no Unix-domain sockets or refuses this one; the stack works without it
     */
    public static @Nullable ReportServer start(RunDirectory directory, int slot, Supplier<StackReport> reports) {
        if (directory.isOfVirtualHost()) {
            return null;
        }
        Path socket = directory.file(ReportSockets.name(slot));
        try {
            ReportServer server = new ReportServer(socket, listen(socket), reports);
            var _ = SharedThread.start("rdma4j-report", server::serve);
            return server;
        } catch (IOException | UnsupportedOperationException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "other processes cannot watch this one: " + socket, e);
            return null;
        }
    }

    private static TextListener listen(Path socket) throws IOException {
        Files.deleteIfExists(socket); // left by a killed process that had the slot
        TextListener listener = LinkSets.listenForReaders(socket);
        return listener == null ? new ChannelTextListener(socket) : listener;
    }

    private boolean serve() {
        try {
            return listener.answer(() -> reports.get().encode());
        } catch (IOException e) {
            // There is no descriptor for the reader, which remains pending.
            pause(FAILURE_PAUSE_MILLIS);
            return true;
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the thread and removes the socket. Closing twice does nothing. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            listener.close();
            remove();
        }
    }

    private void remove() {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException e) {
            // The next process with this slot replaces the file.
            return;
        }
    }
}
