package io.rdma4j.sockets;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.nio.Platform;
import io.rdma4j.sockets.nio.RdmaSelector;
import io.rdma4j.sockets.nio.RdmaServerSocketChannel;
import io.rdma4j.sockets.nio.RdmaSocketChannel;
import io.rdma4j.sockets.options.AddressRules;
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
 * A selector provider for channels over RDMA. Programs that use channels need no change:
 * <pre>java -Djava.nio.channels.spi.SelectorProvider=io.rdma4j.sockets.RdmaSelectorProvider …</pre>
 *
 *
 * <p>To use RDMA for some channels only, call {@code new RdmaSelectorProvider().openSocketChannel()}, or pass a
 * provider to the program. {@link AddressRules} determine which hosts and ports are reached over RDMA and which over
 * TCP. By default, clients try RDMA and then TCP, and servers listen on both. Pipes, datagram channels and channels of
 * Unix-domain sockets are the platform's. The selector accepts all of them. {@link RdmaSockets#openDatagramChannel}
 * opens a datagram channel over RDMA, which the selector also accepts. Stateless and thread safe.
 *
 * <p>For streams on such a channel, use the streams of its {@link SocketChannel#socket}: they can read and write
 * concurrently. The streams, readers and writers of {@link java.nio.channels.Channels} hold a lock of the channel while
 * they block, except for the JDK's own channel classes. A thread that writes through them therefore waits for a thread
 * that reads.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
    private final ConnectionService service;
    private final @Nullable AddressRules rules;

    /** Creates a provider with the rules of the system property {@link AddressRules#PROPERTY}. */
    public RdmaSelectorProvider() {
        this.service = ConnectionService.ofProcess();
        this.rules = null; // read on first use: the JVM may create the provider before the program sets the property
    }

    /** Creates a provider with the given rules. */
    public RdmaSelectorProvider(AddressRules rules) {
        this(ConnectionService.ofProcess(), rules);
    }

    RdmaSelectorProvider(ConnectionService service, AddressRules rules) {
        this.service = service;
        this.rules = rules;
    }

    private AddressRules rules() {
        AddressRules given = rules;
        return given == null ? AddressRules.ofJvm() : given;
    }

    @Override
    public SocketChannel openSocketChannel() {
        return new RdmaSocketChannel(this, service, rules(), SocketFamily.ofJvm());
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return isInternet(family)
                ? new RdmaSocketChannel(this, service, rules(), SocketFamily.of(family))
                : Platform.provider().openSocketChannel(family);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() {
        return new RdmaServerSocketChannel(this, service, rules(), SocketFamily.ofJvm());
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return isInternet(family)
                ? new RdmaServerSocketChannel(this, service, rules(), SocketFamily.of(family))
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
