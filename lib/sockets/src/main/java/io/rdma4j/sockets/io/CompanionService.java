package io.rdma4j.sockets.io;

import io.rdma4j.verbs.spi.SharedThread;
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
 * Reads the UDP sockets of all datagram sockets in one thread. Peers must be answered even while no thread receives.
 * Created with the first socket; its thread is a daemon.
 */
final class CompanionService {
    /** Reads a UDP socket, in the service's thread. */
    interface Target {
        /** Called when a message is available. */
        void onCompanionReadable();
    }

    /** Supplies the service. */
    interface Source {
        /** Returns the service; starts it if necessary. */
        CompanionService get() throws IOException;
    }

    private static final long POLL_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000_000L;

    private static @Nullable CompanionService instance;

    private final Selector selector;

    private CompanionService() throws IOException {
        selector = Selector.open();
        var _ = SharedThread.start("rdma4j-datagrams", this::readNext);
    }

    /**
     * Returns the service. The first call starts it.
     *
     * @throws IOException if the system provides no selector; the next call tries again
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

    /** Registers a channel; the target is called whenever a message is available. */
    void add(DatagramChannel channel, Target target) throws IOException {
        channel.register(selector, SelectionKey.OP_READ, target);
        selector.wakeup();
    }

    /** Closes a channel that was added, and waits at most a second until its port is free. */
    void close(DatagramChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            logger().log(Level.DEBUG, "Closing a UDP socket failed", e);
        }
        selector.wakeup();
        long deadline = SystemTime.nanos() + LONGEST_NANOS; // system time: for a UDP socket of the platform
        while (channel.isRegistered() && SystemTime.nanos() - deadline < 0) {
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private boolean readNext() throws IOException {
        selector.select(CompanionService::read);
        return true;
    }

    private static void read(SelectionKey key) {
        if (key.isValid() && key.attachment() instanceof Target target) {
            try {
                target.onCompanionReadable();
            } catch (RuntimeException | Error failed) { // the other sockets must still be read
                SharedThread.report(CompanionService.class, "Datagrams lost", failed);
            }
        }
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(CompanionService.class.getName());
    }
}
