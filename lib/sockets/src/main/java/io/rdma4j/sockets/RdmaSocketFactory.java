package io.rdma4j.sockets;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.net.RdmaServerSocket;
import io.rdma4j.sockets.net.RdmaSocket;
import io.rdma4j.sockets.nio.RdmaDatagramChannel;
import io.rdma4j.sockets.nio.RdmaServerSocketChannel;
import io.rdma4j.sockets.nio.RdmaSocketChannel;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A factory of sockets, channels and selectors over the devices of one connection manager. The connection manager may
 * belong to a software stack that the program has created. {@link RdmaSockets} has the same methods for the devices of
 * this process. The peers may belong to any connection manager, in any process. Thread safe.
 *
 * {@snippet :
 * try (SoftStack stack = SoftStack.create();
 *         RdmaSocketFactory factory = new RdmaSocketFactory(stack.connectionManager());
 *         SocketChannel channel = factory.openSocketChannel(StandardProtocolFamily.INET)) {
 *     channel.connect(server);
 *     // ...
 * }
 * }
 *
 * <p>A selector accepts the channels of all factories. A thread that blocks in a selector drives one of the devices of
 * its channels; the others are driven in the background.
 *
 * <p>Datagram sockets also have UDP sockets of the operating system, through which they discover their peers. They need
 * an address of this host and cannot be used over a network that exists only in memory.
 */
public final class RdmaSocketFactory implements AutoCloseable {
    private final ConnectionService service;
    private final RdmaSelectorProvider provider;

    /** Creates a factory over the devices of a connection manager. Nothing is opened before the first socket. */
    public RdmaSocketFactory(ConnectionManager connectionManager) {
        this(new ConnectionService(connectionManager));
    }

    RdmaSocketFactory(ConnectionService service) {
        this.service = service;
        provider = new RdmaSelectorProvider(service, AddressRules.RDMA_ONLY);
    }

    /** Opens a socket like {@link RdmaSockets#openSocket}. */
    public Socket openSocket(ProtocolFamily family) throws IOException {
        return new RdmaSocket(service, SocketFamily.of(family));
    }

    /** Opens a server socket like {@link RdmaSockets#openServerSocket}. */
    public ServerSocket openServerSocket(ProtocolFamily family) throws IOException {
        return new RdmaServerSocket(service, SocketFamily.of(family));
    }

    /** Opens a channel like {@link RdmaSockets#openSocketChannel}. */
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return new RdmaSocketChannel(provider, service, AddressRules.RDMA_ONLY, SocketFamily.of(family));
    }

    /** Opens a server socket channel like {@link RdmaSockets#openServerSocketChannel}. */
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return new RdmaServerSocketChannel(provider, service, AddressRules.RDMA_ONLY, SocketFamily.of(family));
    }

    /** Opens a datagram channel like {@link RdmaSockets#openDatagramChannel}. */
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return new RdmaDatagramChannel(provider, service, SocketFamily.of(family));
    }

    /** Opens a selector like {@link RdmaSockets#openSelector}. */
    public Selector openSelector() throws IOException {
        return provider.openSelector();
    }

    /** Opens a stream socket with the calls of rsocket(7) like {@link RdmaStreamSocket#open}. */
    public RdmaStreamSocket openStreamSocket() {
        return RdmaStreamSocket.open(service);
    }

    /** Opens a datagram socket with the calls of rsocket(7) like {@link RdmaDatagramSocket#open}. */
    public RdmaDatagramSocket openDatagramSocket() {
        return RdmaDatagramSocket.open(service);
    }

    /** Returns a selector provider. The rules determine whether its channels use RDMA or TCP. */
    public RdmaSelectorProvider selectorProvider(AddressRules rules) {
        return new RdmaSelectorProvider(service, rules);
    }

    /**
     * Closes the factory, so that its connection manager can be closed. Its sockets must be closed first. This method
     * waits at most ten seconds until they have delivered their data and released their connections. No stream socket
     * of the factory can be bound or connected afterwards. Closing a closed factory has no effect.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EBUSY} if sockets are still open after that time; the factory stays
     *     open
     */
    @Override
    public void close() {
        service.close();
    }
}
