package io.rdma4j.sharing;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Registers this process with the guardian of the user, if one runs. The system closes the channel when the process ends, for any
 * reason; then the guardian disconnects the peers ({@link CrashDisconnectTable}). Thread safe.
 */
public final class GuardianChannel implements AutoCloseable {
    /** The socket of the guardian in the run directory. */
    public static final String SOCKET = "guardian.sock";

    /** The first and only message: the version of the protocol, and the slot of the process. */
    public static final int MESSAGE_BYTES = 2;

    /** The version in the message. */
    public static final byte VERSION = 1;

    /** The minimum time between two checks for a guardian. */
    private static final long CHECK_NANOS = 1_000_000_000;

    private final RunDirectory directory;
    private final int slot;
    private @Nullable SocketChannel channel;
    private long checkedNanos = Long.MIN_VALUE;
    private boolean closed;

    GuardianChannel(RunDirectory directory, int slot) {
        this.directory = directory;
        this.slot = slot;
    }

    /** Registers with a guardian that has started since the last check. Checks at most once a second. */
    synchronized void check(long nowNanos) {
        if (checkedNanos == Long.MIN_VALUE || nowNanos - checkedNanos >= CHECK_NANOS) {
            checkedNanos = nowNanos;
            check();
        }
    }

    /** Registers with a guardian that has just started. */
    synchronized void check() {
        if (closed || directory.isOfVirtualHost() || isConnected()) {
            return;
        }
        Path socket = directory.fileOfNamespace(SOCKET);
        if (!Files.exists(socket)) {
            return;
        }
        try {
            channel = connect(socket);
        } catch (IOException | UnsupportedOperationException e) {
            // The guardian has ended, or this system has no such sockets.
            return;
        }
    }

    private SocketChannel connect(Path socket) throws IOException {
        SocketChannel opened = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            opened.configureBlocking(false);
            ByteBuffer message = ByteBuffer.allocate(MESSAGE_BYTES).put(VERSION).put((byte) slot);
            if (!opened.connect(UnixDomainSocketAddress.of(socket)) || opened.write(message.flip()) != MESSAGE_BYTES) {
                throw new IOException("the guardian does not accept connections");
            }
            return opened;
        } catch (IOException e) {
            opened.close();
            throw e;
        }
    }

    private boolean isConnected() {
        SocketChannel open = channel;
        if (open == null) {
            return false;
        }
        try {
            if (open.read(ByteBuffer.allocate(1)) == 0) {
                return true; // the guardian sends nothing
            }
            open.close();
        } catch (IOException e) {
            // It has ended.
            channel = null;
            return false;
        }
        channel = null;
        return false;
    }

    @Override
    public synchronized void close() {
        closed = true;
        SocketChannel open = channel;
        channel = null;
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            // Nothing was buffered.
            return;
        }
    }
}
