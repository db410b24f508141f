package io.rdma4j.soft.guardian;

import io.rdma4j.sharing.DirectoryUse;
import io.rdma4j.sharing.GuardedProcess;
import io.rdma4j.sharing.GuardianChannel;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.wire.cm.AbandonedConnection;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches the processes of a run directory, and disconnects the peers of a process that has ended without doing so
 * itself (decision 054).
 *
 * <p>Each process connects to a Unix-domain socket and names its slot. The process has ended when its channel is closed and its
 * slot is released. One thread does everything; it blocks in the kernel while there is nothing to do.
 */
public final class GuardianServer implements AutoCloseable {
    /** The pause before the guardian checks again for a process that ends, or for replies. */
    private static final long CHECK_MILLIS = 10;

    private final RunDirectory directory;
    private final DirectoryUse use;
    private final Path socket;
    private final Selector selector;
    private final ServerSocketChannel listener;
    private final Disconnector disconnector;
    private final Consumer<String> log;
    private final List<GuardedProcess> ending = new ArrayList<>();
    private volatile boolean closed;

    /** A channel of a process, with its first message. */
    private static final class Client {
        private final ByteBuffer message = ByteBuffer.allocate(GuardianChannel.MESSAGE_BYTES);
        private @Nullable GuardedProcess process;
    }

    private GuardianServer(
            RunDirectory directory,
            DirectoryUse use,
            Path socket,
            Selector selector,
            ServerSocketChannel listener,
            Disconnector disconnector,
            Consumer<String> log) {
        this.directory = directory;
        this.use = use;
        this.socket = socket;
        this.selector = selector;
        this.listener = listener;
        this.disconnector = disconnector;
        this.log = log;
    }

    /**
     * Opens the socket of the run directory of this process. Running processes register when their report is read ({@link
     * io.rdma4j.soft.report.ReportSockets}), or at their next connection.
     *
     * @param log receives a line for each process that has left connections
     * @throws RdmaException {@code EACCES} if other users may enter or replace the run directory
     * @throws IOException if a guardian already runs, or the system has no Unix-domain sockets
     */
    public static GuardianServer open(Consumer<String> log) throws IOException {
        return open(RunDirectories.open(), StackSettings::ofProcess, log);
    }

    static GuardianServer open(RunDirectory directory, Supplier<StackSettings> settings, Consumer<String> log)
            throws IOException {
        if (isRunning(directory)) {
            throw new IOException("a guardian already runs in " + directory.path());
        }
        // Without a slot, processes of other network namespaces would remove the directory, and its socket.
        DirectoryUse use = used(directory);
        try {
            return open(directory, use, settings, log);
        } catch (IOException | RuntimeException | Error e) {
            use.close();
            throw e;
        }
    }

    private static DirectoryUse used(RunDirectory directory) {
        try {
            return new DirectoryUse(directory, new Random());
        } catch (SharingException refusal) {
            throw SystemFailure.of("ibv_open_device", refusal);
        }
    }

    private static GuardianServer open(
            RunDirectory directory, DirectoryUse use, Supplier<StackSettings> settings, Consumer<String> log)
            throws IOException {
        Path socket = directory.fileOfNamespace(GuardianChannel.SOCKET);
        Files.deleteIfExists(socket);
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        Selector selector = Selector.open();
        try {
            listener.bind(UnixDomainSocketAddress.of(socket));
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            return new GuardianServer(directory, use, socket, selector, listener, new Disconnector(settings), log);
        } catch (IOException e) {
            listener.close();
            selector.close();
            throw e;
        }
    }

    /**
     * Returns whether a guardian runs for the processes that share the run directory of this process.
     *
     * @throws RdmaException {@code EACCES} if other users may enter or replace the run directory
     */
    public static boolean isRunning() {
        return isRunning(RunDirectories.open());
    }

    private static boolean isRunning(RunDirectory directory) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return channel.connect(UnixDomainSocketAddress.of(directory.fileOfNamespace(GuardianChannel.SOCKET)));
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Returns the run directory. */
    public Path directory() {
        return directory.path();
    }

    /** Watches processes until {@link #close}. */
    public void run() {
        // Loads the classes of a stack now, not while peers wait.
        disconnect(List.of());
        SharedThread.run(this::watch); // a full heap does not end it
        disconnector.close();
    }

    /** Waits for processes once. Returns false when the guardian is closed. */
    private boolean watch() {
        if (closed) {
            return false;
        }
        boolean isDone = disconnector.closeIfDone();
        try {
            selector.select(isDone && ending.isEmpty() ? 0 : CHECK_MILLIS);
            if (selector.isOpen()) {
                handleSelected();
            }
        } catch (ClosedSelectorException e) {
            return false;
        } catch (IOException e) {
            log.accept("the system refuses: " + e.getMessage());
            pause();
        }
        checkEnding();
        return true;
    }

    private void handleSelected() throws IOException {
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext(); ) {
            SelectionKey key = keys.next();
            keys.remove();
            if (key.attachment() instanceof Client client) {
                read((SocketChannel) key.channel(), client);
            } else {
                accept();
            }
        }
    }

    private void accept() throws IOException {
        SocketChannel channel = listener.accept();
        if (channel != null) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, new Client());
        }
    }

    private void read(SocketChannel channel, Client client) throws IOException {
        boolean isOpen = false;
        try {
            isOpen = channel.read(client.message) > 0 && isUnderstood(client);
        } catch (IOException e) {
            // The process has ended.
            isOpen = false;
        } finally {
            if (!isOpen) {
                channel.close();
                GuardedProcess process = client.process;
                if (process != null) {
                    ending.add(process);
                }
            }
        }
    }

    /** Starts watching the process when its message is complete. Returns false if the message is invalid, or another one follows. */
    private boolean isUnderstood(Client client) throws IOException {
        ByteBuffer message = client.message;
        if (message.hasRemaining()) {
            return true;
        }
        if (client.process != null || message.get(0) != GuardianChannel.VERSION || message.get(1) == 0) {
            return false;
        }
        client.process = GuardedProcess.open(directory, message.get(1) & 0xff);
        return true;
    }

    /** A process releases its slot shortly after it has closed the channel. A process that has closed its stack leaves no connections. */
    private void checkEnding() {
        for (Iterator<GuardedProcess> all = ending.iterator(); all.hasNext(); ) {
            GuardedProcess process = all.next();
            boolean hasEnded = process.hasEnded();
            if (hasEnded || !process.isAnyLeft()) {
                all.remove();
                List<AbandonedConnection> left = hasEnded ? process.take() : List.of();
                process.close();
                if (!left.isEmpty()) {
                    int count = disconnect(left);
                    log.accept("a process (slot " + process.slot() + ") has ended: disconnecting " + count
                            + " of its connections");
                }
            }
        }
    }

    private int disconnect(List<AbandonedConnection> left) {
        try {
            return disconnector.disconnect(left);
        } catch (RdmaException e) {
            log.accept("peers cannot be disconnected: " + e.getMessage());
            return 0;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(CHECK_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends {@link #run}, and removes the socket. Any thread. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            listener.close();
            Files.deleteIfExists(socket);
            selector.close();
        } catch (IOException e) {
            // The next guardian replaces the file.
            return;
        } finally {
            use.close();
        }
    }
}
