package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The window grows while it is the limit, and shrinks on loss, once per window and not below the minimum. */
class CongestionWindowTest {
    private static final long PACKET = 4096;

    private final CongestionWindow window = new CongestionWindow();

    @BeforeEach
    void start() {
        window.start(32 * PACKET, 64 * PACKET, PACKET, 1000);
    }

    private long packets() {
        return window.bytes() / PACKET;
    }

    private void acknowledgeAll() {
        window.onLimit();
        window.onAcknowledged(window.bytes());
    }

    @Test
    void doublesWithEachWindowUpToTheMaximumUntilALoss() {
        assertThat(packets()).isEqualTo(32);
        acknowledgeAll();
        assertThat(packets()).isEqualTo(64);
        acknowledgeAll();
        assertThat(packets()).isEqualTo(64);
    }

    @Test
    void shrinksAfterALongTimeAtTheMaximum() {
        acknowledgeAll();
        for (int i = 0; i < 63; i++) {
            acknowledgeAll();
            assertThat(packets()).isEqualTo(64);
        }
        acknowledgeAll();
        assertThat(packets()).isEqualTo(44);
        acknowledgeAll();
        assertThat(packets()).isEqualTo(45);
    }

    @Test
    void doesNotGrowForAnApplicationThatDoesNotFillIt() {
        window.onAcknowledged(1000 * PACKET);
        assertThat(packets()).isEqualTo(32);
    }

    @Test
    void shrinksOncePerWindowOfPackets() {
        window.onLoss(1000, 1032);
        assertThat(packets()).isEqualTo(22);
        window.onLoss(1000, 1032);
        window.onLoss(1031, 1040);
        assertThat(packets()).isEqualTo(22);
        window.onLoss(1032, 1060);
        assertThat(packets()).isEqualTo(15);
    }

    @Test
    void growsByOnePacketPerWindowAfterALoss() {
        window.onLoss(1000, 1032);
        acknowledgeAll();
        assertThat(packets()).isEqualTo(23);
        for (int i = 0; i < 23; i++) {
            window.onLimit();
            window.onAcknowledged(PACKET);
        }
        assertThat(packets()).isEqualTo(23);
        window.onLimit();
        window.onAcknowledged(PACKET);
        assertThat(packets()).isEqualTo(24);
    }

    /** Otherwise, of two connections over one link, the one with short packets would get the smaller share. */
    @Test
    void growsByTheSameNumberOfBytesForAnyPacketLength() {
        window.start(32 * PACKET, 64 * PACKET, PACKET / 4, 1000);
        window.onLoss(1000, 1032);
        long before = window.bytes();
        acknowledgeAll();
        assertThat(window.bytes()).isEqualTo(before + PACKET);
    }

    @Test
    void neverShrinksBelowTheMinimum() {
        for (int i = 1; i < 20; i++) {
            window.onLoss(1000L * i, 1000L * i + 4);
        }
        assertThat(packets()).isEqualTo(CongestionWindow.MIN_PACKETS);
    }

    @Test
    void startsAtTheMinimumAfterSilenceAndDoublesToHalfOfTheFormerWindow() {
        window.onSilence(1032);
        assertThat(packets()).isEqualTo(CongestionWindow.MIN_PACKETS);
        acknowledgeAll();
        acknowledgeAll();
        assertThat(packets()).isEqualTo(16);
        acknowledgeAll();
        assertThat(packets()).isEqualTo(17);
    }
}
