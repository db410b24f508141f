package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The buffers of channels over RDMA: they grow with use unless the program has set their sizes. */
@Timeout(60)
class ChannelBuffersTest {
    private static final int LARGE = 1 << 20;
    private static final int FIXED = 65_536;
    private static final SelectorProvider PROVIDER = new RdmaSelectorProvider(AddressRules.RDMA_ONLY);

    /** Writes until the buffers are full, and returns the number of bytes. */
    private static int fill(SocketChannel channel) throws IOException {
        ByteBuffer source = ByteBuffer.allocateDirect(LARGE);
        int all = 0;
        int count;
        while ((count = channel.write(source)) > 0) {
            all += count;
            source.clear();
        }
        return all;
    }

    private static void read(SocketChannel channel, int bytes) throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(bytes);
        while (target.hasRemaining()) {
            assertThat(channel.read(target)).isPositive();
        }
    }

    @Test
    void largeWriteFitsAfterSomeUse() throws IOException {
        try (Loopback pair = new Loopback(PROVIDER)) {
            pair.client.configureBlocking(false);
            int fits = 0;
            while (fits < LARGE) { // if the buffers do not grow, the timeout of the class ends the loop
                fits = fill(pair.client);
                read(pair.server, fits);
            }
        }
    }

    @Test
    void sizesThatTheProgramHasSetStay() throws IOException {
        try (ServerSocketChannel listener = PROVIDER.openServerSocketChannel(StandardProtocolFamily.INET);
                SocketChannel client = PROVIDER.openSocketChannel(StandardProtocolFamily.INET)) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, FIXED);
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            client.connect(Objects.requireNonNull(listener.getLocalAddress()));
            client.configureBlocking(false);
            try (SocketChannel server = Objects.requireNonNull(listener.accept())) {
                for (int round = 0; round < 20; round++) {
                    int fits = fill(client);
                    assertThat(fits).isLessThanOrEqualTo(2 * FIXED);
                    read(server, fits);
                }
            }
        }
    }
}
