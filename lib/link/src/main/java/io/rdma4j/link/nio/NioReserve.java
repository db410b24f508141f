package io.rdma4j.link.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A spare descriptor, for use when the process has no others, so that a listener can refuse connections. Otherwise they
 * would stay pending, and end every wait immediately. If another thread has taken it, the set does not wait for the
 * listener for a while.
 */
final class NioReserve {
    private final SelectorProvider provider;
    private final List<SelectionKey> suspended = new ArrayList<>();
    private @Nullable DatagramChannel kept;

    NioReserve(SelectorProvider provider) {
        this.provider = provider;
    }

    /** Opens the descriptor if it is not open and there is one. */
    void fill() {
        if (kept == null) {
            try {
                kept = provider.openDatagramChannel();
            } catch (IOException lacking) {
                kept = null;
            }
        }
    }

    void close() {
        DatagramChannel channel = kept;
        kept = null;
        if (channel != null) {
            NioLinkSet.closeQuietly(channel);
        }
    }

    /**
     * Refuses pending connections, because this process has no descriptors for them.
     *
     * @param refusal the message to their processes; null for nothing
     */
    void refuse(ServerSocketChannel server, SelectionKey key, @Nullable ByteBuffer refusal) {
        boolean mayHaveMore = true;
        while (mayHaveMore) {
            boolean wasKept = kept != null;
            close();
            mayHaveMore = refuseOne(server, refusal);
            fill();
            if (!wasKept) {
                suspend(key);
                return;
            }
        }
    }

    private static boolean refuseOne(ServerSocketChannel server, @Nullable ByteBuffer refusal) {
        try (SocketChannel channel = server.accept()) {
            if (channel != null && refusal != null) {
                channel.configureBlocking(false);
                int _ = channel.write(refusal.duplicate());
            }
            return channel != null;
        } catch (IOException lackingOrClosed) {
            return false;
        }
    }

    private synchronized void suspend(SelectionKey key) {
        suspended.add(key);
        waitFor(key, 0);
    }

    /** Returns whether there is a listener that the set does not wait for now. */
    synchronized boolean hasSuspended() {
        return !suspended.isEmpty();
    }

    /** Waits for all listeners again. */
    synchronized void resume() {
        suspended.forEach(key -> waitFor(key, SelectionKey.OP_ACCEPT));
        suspended.clear();
    }

    private static void waitFor(SelectionKey key, int operations) {
        try {
            key.interestOps(operations);
        } catch (CancelledKeyException closed) {
            return;
        }
    }
}
