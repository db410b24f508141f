package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.rsocket.ControlWord;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Buffers grow with use, up to their limits, and no byte is lost. */
class BufferGrowthTest {
    private static final StreamSizes SIZES = new StreamSizes(32, 32, 4096, 4096, 64, 0);

    private static StreamPair pair(BufferLimits limits) {
        StreamPair pair =
                new StreamPair(StreamEnd.growing(SIZES, limits, 0xa0), StreamEnd.growing(SIZES, limits, 0xb0));
        pair.a.protocol.start();
        pair.b.protocol.start();
        pair.deliver();
        return pair;
    }

    /** Writes until the buffers are full, and returns the number of bytes. */
    private static int fill(StreamPair pair) {
        int all = 0;
        int count;
        while ((count = pair.write(pair.a, 100_000)) > 0) {
            all += count;
            pair.deliver();
        }
        return all;
    }

    private static int readAll(StreamPair pair) {
        int all = 0;
        int count;
        while ((count = pair.read(pair.b, 100_000)) > 0) {
            all += count;
            pair.deliver();
        }
        return all;
    }

    @Test
    void buffersGrowToTheirLimitsIfTheReaderKeepsUp() {
        StreamPair pair = pair(new BufferLimits(20_000, 32_768));
        int fits = 0;
        for (int round = 0; round < 10; round++) {
            fits = fill(pair);
            assertThat(readAll(pair)).isEqualTo(fits);
        }
        assertThat(fits).isEqualTo(32_768);
        assertThat(pair.a.toSend).hasSize(1);
        assertThat(pair.a.toSend.getFirst().memory().byteSize()).isEqualTo(20_000);
        assertThat(pair.b.received.values()).hasSize(2);
        assertThat(pair.b.received.values()).allMatch(piece -> piece.memory().byteSize() == 16_384);
    }

    @Test
    void wholeWriteIsAcceptedOnceTheBuffersHaveGrown() {
        StreamPair pair = pair(new BufferLimits(65_536, 65_536));
        for (int round = 0; round < 10; round++) {
            fill(pair);
            readAll(pair);
        }
        assertThat(pair.write(pair.a, 60_000)).isEqualTo(60_000);
    }

    @Test
    void receiveBufferStaysIfTheReaderIsSlower() {
        StreamPair pair = pair(new BufferLimits(65_536, 65_536));
        fill(pair);
        for (int round = 0; round < 100; round++) {
            assertThat(pair.read(pair.b, 512)).isEqualTo(512);
            pair.deliver();
            fill(pair);
        }
        assertThat(pair.b.received).isEmpty();
    }

    @Test
    void discardedBytesDoNotMakeTheBufferGrow() {
        StreamPair pair = pair(new BufferLimits(65_536, 65_536));
        pair.b.protocol.shutdownInput();
        for (int round = 0; round < 10; round++) {
            assertThat(pair.write(pair.a, 3000)).isPositive();
            pair.deliver();
        }
        assertThat(pair.b.received).isEmpty();
    }

    @Test
    void buffersOfAFixedSizeStay() {
        StreamPair pair = pair(BufferLimits.FIXED);
        for (int round = 0; round < 10; round++) {
            assertThat(fill(pair)).isEqualTo(4096);
            assertThat(readAll(pair)).isEqualTo(4096);
        }
        assertThat(pair.a.toSend).isEmpty();
        assertThat(pair.b.received).isEmpty();
    }

    @Test
    void formerSendBufferIsReleasedWhenItsBytesAreAcknowledged() {
        StreamPair pair = pair(new BufferLimits(65_536, 65_536));
        for (int round = 0; round < 10; round++) {
            fill(pair);
            readAll(pair);
            assertThat(pair.a.toSend).hasSizeLessThanOrEqualTo(1);
            assertThat(pair.b.received).hasSizeLessThanOrEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void bytesArriveInOrderWhileBuffersGrow(long seed) {
        StreamPair pair = pair(new BufferLimits(40_000, 100_000));
        pair.exchange(2_000_000, 30_000, new SplittableRandom(seed));
        assertThat(pair.b.received).isNotEmpty();
        assertThat(pair.a.toSend).isNotEmpty();
    }

    @Test
    void peerMayNotWriteMoreThanItWasOfferedAfterGrowth() {
        StreamPair pair = pair(new BufferLimits(65_536, 65_536));
        for (int round = 0; round < 10; round++) {
            fill(pair);
            readAll(pair);
        }
        pair.b.word(ControlWord.DATA, 65_537, 65_537);
        assertThat(pair.b.protocol.failure()).contains("announced 65537 bytes");
    }
}
