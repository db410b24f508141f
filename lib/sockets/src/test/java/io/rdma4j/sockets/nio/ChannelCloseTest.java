package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Closing a non-blocking channel. */
@Timeout(60)
class ChannelCloseTest {
    private static final int CHANNELS = 40;

    /** The thread's waits are counted, not measured. A contended lock may cause one occasionally. */
    @Test
    void nonBlockingChannelIsClosedWithoutWaiting() throws Exception {
        RdmaSelectorProvider provider = new RdmaSelectorProvider(AddressRules.RDMA_ONLY);
        List<SocketChannel> channels = new ArrayList<>();
        List<SocketChannel> peers = new ArrayList<>();
        try (Loopback first = new Loopback(provider);
                ServerSocketChannel listener = first.listener) {
            for (int i = 0; i < CHANNELS; i++) {
                SocketChannel channel = provider.openSocketChannel();
                channel.connect(listener.getLocalAddress());
                channel.configureBlocking(false);
                channels.add(channel);
                peers.add(listener.accept());
            }
            long before = waits();
            for (SocketChannel channel : channels) {
                channel.close();
            }
            assertThat(waits() - before).as("waits of %d closes", CHANNELS).isLessThan(CHANNELS / 2);
            for (SocketChannel peer : peers) {
                peer.close();
            }
        }
    }

    private static long waits() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return threads.getThreadInfo(Thread.currentThread().threadId()).getWaitedCount();
    }
}
