package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The window opens while it limits, closes by losses, once for each window, and never below the least. */
class CongestionWindowTest {
    private final CongestionWindow window = new CongestionWindow();

    @BeforeEach
    void start() {
        window.start(32, 64, 1000);
    }

    private void acknowledgeAll() {
        window.onLimit();
        window.onAcknowledged(window.packets());
    }

    @Test
    void doublesWithEachWindowUntilTheMostWhileNothingWasLost() {
        assertThat(window.packets()).isEqualTo(32);
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(64);
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(64);
    }

    @Test
    void givesWayToOthersWhenItHasBeenOpenForLong() {
        acknowledgeAll();
        for (int i = 0; i < 63; i++) {
            acknowledgeAll();
            assertThat(window.packets()).isEqualTo(64);
        }
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(44);
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(45);
    }

    @Test
    void doesNotOpenForAnApplicationThatDoesNotFillIt() {
        window.onAcknowledged(1000);
        assertThat(window.packets()).isEqualTo(32);
    }

    @Test
    void closesOncePerWindowOfPackets() {
        window.onLoss(1000, 1032);
        assertThat(window.packets()).isEqualTo(22);
        window.onLoss(1000, 1032);
        window.onLoss(1031, 1040);
        assertThat(window.packets()).isEqualTo(22);
        window.onLoss(1032, 1060);
        assertThat(window.packets()).isEqualTo(15);
    }

    @Test
    void opensByOnePacketPerWindowAfterALoss() {
        window.onLoss(1000, 1032);
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(23);
        for (int i = 0; i < 22; i++) {
            window.onLimit();
            window.onAcknowledged(1);
        }
        assertThat(window.packets()).isEqualTo(23);
        window.onLimit();
        window.onAcknowledged(1);
        assertThat(window.packets()).isEqualTo(24);
    }

    @Test
    void neverClosesBelowTheLeast() {
        for (int i = 1; i < 20; i++) {
            window.onLoss(1000L * i, 1000L * i + 4);
        }
        assertThat(window.packets()).isEqualTo(CongestionWindow.LEAST_PACKETS);
    }

    @Test
    void afterSilenceItBeginsWithTheLeastAndDoublesToHalfOfWhatItWas() {
        window.onSilence(1032);
        assertThat(window.packets()).isEqualTo(CongestionWindow.LEAST_PACKETS);
        acknowledgeAll();
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(16);
        acknowledgeAll();
        assertThat(window.packets()).isEqualTo(17);
    }
}
