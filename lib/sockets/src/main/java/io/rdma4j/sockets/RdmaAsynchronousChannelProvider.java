package io.rdma4j.sockets;

import io.rdma4j.sockets.async.RdmaAsynchronousServerSocketChannel;
import io.rdma4j.sockets.async.RdmaAsynchronousSocketChannel;
import io.rdma4j.sockets.async.RdmaChannelGroup;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.IllegalChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * A provider of asynchronous channels (NIO.2) over RDMA. Programs that use such channels need no change:
 * <pre>java -Djava.nio.channels.spi.AsynchronousChannelProvider=io.rdma4j.sockets.RdmaAsynchronousChannelProvider …</pre>
 *
 * <p>{@link AddressRules} determine which networks are reached over RDMA and which over TCP. Each channel group has one
 * thread that waits for all of its channels and drives the device. The threads of the group's pool call the completion
 * handlers. The pool of the default group creates threads as needed; the properties of the JDK for that pool have no
 * effect. Thread safe.
 */
public final class RdmaAsynchronousChannelProvider extends AsynchronousChannelProvider {
    private final RdmaSelectorProvider channels;
    private @Nullable RdmaChannelGroup defaultGroup;

    /** Creates a provider with the rules of the system property {@link AddressRules#PROPERTY}. */
    public RdmaAsynchronousChannelProvider() {
        channels = new RdmaSelectorProvider();
    }

    /** Creates a provider with the given rules. */
    public RdmaAsynchronousChannelProvider(AddressRules rules) {
        channels = new RdmaSelectorProvider(rules);
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(int threads, ThreadFactory factory) {
        return new RdmaChannelGroup(this, channels, Executors.newFixedThreadPool(threads, factory));
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(ExecutorService pool, int initialSize) {
        return new RdmaChannelGroup(this, channels, pool);
    }

    @Override
    public AsynchronousServerSocketChannel openAsynchronousServerSocketChannel(@Nullable AsynchronousChannelGroup group)
            throws IOException {
        return RdmaAsynchronousServerSocketChannel.open(checked(group));
    }

    @Override
    public AsynchronousSocketChannel openAsynchronousSocketChannel(@Nullable AsynchronousChannelGroup group)
            throws IOException {
        return RdmaAsynchronousSocketChannel.open(checked(group));
    }

    private RdmaChannelGroup checked(@Nullable AsynchronousChannelGroup group) {
        if (group == null) {
            return defaultGroup();
        }
        if (group instanceof RdmaChannelGroup own && own.provider() == this) {
            return own;
        }
        throw new IllegalChannelGroupException();
    }

    private synchronized RdmaChannelGroup defaultGroup() {
        RdmaChannelGroup current = defaultGroup;
        if (current == null) {
            ThreadFactory factory = Thread.ofPlatform()
                    .daemon()
                    .name("rdma4j-completion-handlers-", 0)
                    .factory();
            current = new RdmaChannelGroup(this, channels, Executors.newCachedThreadPool(factory));
            defaultGroup = current;
        }
        return current;
    }
}
