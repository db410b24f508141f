package io.rdma4j.soft.report;

import io.rdma4j.soft.sharing.RunDirectory;
import io.rdma4j.verbs.wait.SharedThread;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the report of a stack to each process that connects to a Unix-domain socket in the run directory.
 *
 * <p>Only processes of the same user can connect, since only they may enter the run directory. The server reads nothing from
 * them, and gives up a reader that does not read. Its thread is blocked in the kernel until a process connects.
 */
public final class ReportServer implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger(ReportServer.class.getName());

    /** The pause after a failure, such as a lack of descriptors. */
    private static final long FAILURE_PAUSE_MILLIS = 100;

    /** The waits of a millisecond for a reader that does not read, for one report. */
    private static final int MAX_PAUSES = 1000;

    private final Path socket;
    private final ServerSocketChannel channel;
    private final Supplier<StackReport> reports;

    private ReportServer(Path socket, ServerSocketChannel channel, Supplier<StackReport> reports) {
        this.socket = socket;
        this.channel = channel;
        this.reports = reports;
    }

    /**
     * Starts a server.
     *
     * @param directory the run directory
     * @param slot the slot of the stack, which names the socket
     * @param reports creates a report; called by the thread of the server
     * @return the server, or null if the system has no such sockets or refuses this one; the stack works without it
     */
    public static @Nullable ReportServer start(RunDirectory directory, int slot, Supplier<StackReport> reports) {
        if (directory.isOfVirtualHost()) {
            return null;
        }
        Path socket = directory.file(ReportSockets.name(slot));
        try {
            ReportServer server = new ReportServer(socket, bind(socket), reports);
            var _ = SharedThread.start("rdma4j-report", server::serve);
            return server;
        } catch (IOException | UnsupportedOperationException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "other processes cannot watch this one: " + socket, e);
            return null;
        }
    }

    private static ServerSocketChannel bind(Path socket) throws IOException {
        Files.deleteIfExists(socket); // of a killed process that had the slot
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            return channel.bind(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private boolean serve() {
        try (SocketChannel reader = channel.accept()) {
            send(reader);
        } catch (ClosedChannelException e) {
            return channel.isOpen();
        } catch (IOException e) {
            // The reader has disconnected, or there is no descriptor for it: then it remains pending.
            pause(FAILURE_PAUSE_MILLIS);
        }
        return channel.isOpen();
    }

    private void send(SocketChannel reader) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(reports.get().encode());
        reader.configureBlocking(false);
        for (int pauses = 0; bytes.hasRemaining() && pauses < MAX_PAUSES; ) {
            if (reader.write(bytes) == 0) {
                pauses++;
                pause(1);
            }
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
        try {
            if (channel.isOpen()) {
                channel.close();
                Files.deleteIfExists(socket);
            }
        } catch (IOException e) {
            // The next process with this slot replaces the file.
            return;
        }
    }
}
