package io.rdma4j.soft.report;

import io.rdma4j.link.TextListener;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * Accepts readers through a Java channel, where this project's system calls are not available. With JDK 25, a full heap may end
 * the process there.
 */
final class ChannelTextListener implements TextListener {
    /** The maximum number of one-millisecond pauses, for each text, for a reader that does not read. */
    private static final int MAX_PAUSES = 1000;

    private final ServerSocketChannel channel;

    /** Starts listening at a file that does not exist yet. */
    ChannelTextListener(Path socket) throws IOException {
        channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    public boolean answer(Supplier<byte[]> texts) throws IOException {
        try (SocketChannel reader = channel.accept()) {
            send(reader, ByteBuffer.wrap(texts.get()));
        } catch (ClosedChannelException e) {
            return channel.isOpen();
        }
        return channel.isOpen();
    }

    private static void send(SocketChannel reader, ByteBuffer text) throws IOException {
        reader.configureBlocking(false);
        for (int pauses = 0; text.hasRemaining() && pauses < MAX_PAUSES; ) {
            if (reader.write(text) == 0) {
                pauses++;
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // Nothing was buffered.
            return;
        }
    }
}
