package io.rdma4j.sockets;

import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.nio.Platform;
import io.rdma4j.sockets.nio.RdmaSelector;
import io.rdma4j.sockets.nio.RdmaServerSocketChannel;
import io.rdma4j.sockets.nio.RdmaSocketChannel;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/**
 * Puts RDMA under programs that use channels. For a whole JVM, without a change to the program:
 *
 * <pre>java -Djava.nio.channels.spi.SelectorProvider=io.rdma4j.sockets.RdmaSelectorProvider …</pre>
 *
 * <p>or for single channels: {@code new RdmaSelectorProvider().openSocketChannel()}, or wherever a program takes a provider.
 * Which networks go over RDMA and which over TCP is said by {@link AddressRules}. Pipes, datagram channels and channels of
 * Unix-domain sockets are the platform's; the selector takes them all. Datagrams go over RDMA channel by channel, where a
 * program asks for it: {@link RdmaSockets#openDatagramChannel}, which the selector takes too. Stateless, thread safe.
 *
 * <p>Streams for such a channel are those of its {@link SocketChannel#socket}, one to read and one to write. The streams,
 * readers and writers of {@link java.nio.channels.Channels} hold a lock of the channel while they wait, the same for both
 * directions, unless the channel is one of the JDK's own classes: a thread that writes waits for one that reads.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
    private final @Nullable AddressRules rules;

    /** Makes a provider with the rules of the system property {@link AddressRules#PROPERTY}. */
    public RdmaSelectorProvider() {
        this.rules = null; // read when it is needed: this may run before the program does
    }

    /** Makes a provider with rules of its own. */
    public RdmaSelectorProvider(AddressRules rules) {
        this.rules = rules;
    }

    private AddressRules rules() {
        AddressRules own = rules;
        return own == null ? AddressRules.ofJvm() : own;
    }

    @Override
    public SocketChannel openSocketChannel() {
        return new RdmaSocketChannel(this, rules(), SocketFamily.IPV6);
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return isInternet(family)
                ? new RdmaSocketChannel(this, rules(), SocketFamily.of(family))
                : Platform.provider().openSocketChannel(family);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() {
        return new RdmaServerSocketChannel(this, rules(), SocketFamily.IPV6);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return isInternet(family)
                ? new RdmaServerSocketChannel(this, rules(), SocketFamily.of(family))
                : Platform.provider().openServerSocketChannel(family);
    }

    private static boolean isInternet(ProtocolFamily family) {
        return family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
    }

    @Override
    public AbstractSelector openSelector() {
        return new RdmaSelector(this);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return Platform.provider().openPipe();
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return Platform.provider().openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return Platform.provider().openDatagramChannel(family);
    }

    @Override
    public @Nullable Channel inheritedChannel() throws IOException {
        return Platform.provider().inheritedChannel();
    }
}
