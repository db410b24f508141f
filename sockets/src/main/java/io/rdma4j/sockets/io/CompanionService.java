package io.rdma4j.sockets.io;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the UDP sockets that go with datagram sockets, in one thread for all: peers must be answered also while nobody
 * receives. Made when the first socket is; its thread is a daemon.
 */
final class CompanionService {
    /** Reads its UDP socket, in the service's thread. */
    interface Target {
        /** There is something to read. */
        void onCompanionReadable();
    }

    private static final Logger LOGGER = System.getLogger(CompanionService.class.getName());
    private static final long LOOK_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000_000L;

    private static @Nullable CompanionService instance;

    private final Selector selector;

    private CompanionService() throws IOException {
        selector = Selector.open();
        Thread.ofPlatform().daemon().name("rdma4j-datagrams").start(this::run);
    }

    /**
     * The service, started at the first call.
     *
     * @throws IOException if the system gives no selector; the next call tries again
     */
    static synchronized CompanionService instance() throws IOException {
        CompanionService running = instance;
        if (running == null) {
            running = new CompanionService();
            instance = running;
        }
        return running;
    }

    /** Opens a channel for {@link #add}, bound to an address. */
    static DatagramChannel open(InetSocketAddress local, DatagramSettings now) throws IOException {
        DatagramChannel channel = DatagramChannel.open(
                local.getAddress() instanceof Inet4Address
                        ? StandardProtocolFamily.INET
                        : StandardProtocolFamily.INET6);
        boolean done = false;
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, now.reuseAddress());
            channel.setOption(StandardSocketOptions.SO_SNDBUF, now.sizes().sendBufferBytes());
            channel.setOption(StandardSocketOptions.SO_RCVBUF, now.sizes().receiveBufferBytes());
            if (now.typeOfService() != 0) {
                channel.setOption(StandardSocketOptions.IP_TOS, now.typeOfService());
            }
            channel.bind(local);
            done = true;
            return channel;
        } finally {
            if (!done) {
                channel.close();
            }
        }
    }

    /** Has a channel's target told whenever there is something to read. */
    void add(DatagramChannel channel, Target target) throws IOException {
        channel.register(selector, SelectionKey.OP_READ, target);
        selector.wakeup();
    }

    /** Closes a channel that was added, and waits until its port is free. */
    void close(DatagramChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, "Closing a UDP socket failed", e);
        }
        selector.wakeup();
        long deadline = System.nanoTime() + LONGEST_NANOS;
        while (channel.isRegistered() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private void run() {
        while (true) {
            try {
                selector.select(CompanionService::read);
            } catch (IOException | RuntimeException failed) {
                LOGGER.log(Level.WARNING, "Datagrams lost", failed);
            }
        }
    }

    private static void read(SelectionKey key) {
        if (key.isValid() && key.attachment() instanceof Target target) {
            target.onCompanionReadable();
        }
    }
}
