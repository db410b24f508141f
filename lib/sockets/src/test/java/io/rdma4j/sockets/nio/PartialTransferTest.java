package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.nio.ByteBuffer;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The results of transfers that fail partway. */
@Timeout(60)
class PartialTransferTest {
    private static final int MORE_THAN_FITS_BYTES = 50_000_000;

    private static SelectorProvider provider(String transport) {
        return new RdmaSelectorProvider(AddressRules.parse("*=" + transport));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void gatheringWriteThatFailsPartwayReturnsItsCount(String transport) throws Exception {
        ByteBuffer[] sources = {ByteBuffer.allocate(10), ByteBuffer.allocate(MORE_THAN_FITS_BYTES)};
        try (Loopback pair = new Loopback(provider(transport))) {
            FutureTask<Long> writing = new FutureTask<>(() -> pair.client.write(sources));
            Thread.ofPlatform().daemon().start(writing);
            assertThat(pair.server.read(ByteBuffer.allocate(10))).isPositive();
            pair.server.close();
            assertThat(writing.get(20, TimeUnit.SECONDS)).isEqualTo(sources[0].position() + sources[1].position());
            assertThat(sources[0].position()).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void writeThatFailsPartwayReturnsItsCount(String transport) throws Exception {
        ByteBuffer source = ByteBuffer.allocateDirect(MORE_THAN_FITS_BYTES);
        try (Loopback pair = new Loopback(provider(transport))) {
            FutureTask<Integer> writing = new FutureTask<>(() -> pair.client.write(source));
            Thread.ofPlatform().daemon().start(writing);
            assertThat(pair.server.read(ByteBuffer.allocate(10))).isPositive();
            pair.server.close();
            assertThat(writing.get(20, TimeUnit.SECONDS)).isEqualTo(source.position());
        }
    }
}
