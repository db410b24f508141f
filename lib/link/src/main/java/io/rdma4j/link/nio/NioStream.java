package io.rdma4j.link.nio;

import io.rdma4j.link.internal.ByteStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** A connected Unix-domain socket channel. */
final class NioStream implements ByteStream {
    private final NioLinkSet set;
    private final SocketChannel channel;
    private final SelectionKey key;

    NioStream(NioLinkSet set, SocketChannel channel, SelectionKey key) {
        this.set = set;
        this.channel = channel;
        this.key = key;
    }

    @Override
    public int read(ByteBuffer target) {
        try {
            return channel.read(target);
        } catch (IOException e) {
            return ENDED;
        }
    }

    @Override
    public int write(ByteBuffer source) {
        try {
            return channel.write(source);
        } catch (IOException e) {
            return ENDED;
        }
    }

    @Override
    public void wantsWrite(boolean wanted) {
        try {
            key.interestOps(wanted ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        } catch (CancelledKeyException e) {
            // The channel is closed, so no thread waits for it.
            return;
        }
        if (wanted) {
            set.wakeup();
        }
    }

    @Override
    public void close() {
        if (channel.isOpen()) {
            NioLinkSet.closeQuietly(channel);
            set.release();
        }
    }
}
