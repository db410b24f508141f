package io.rdma4j.link.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WakeupGateTest {
    private final WakeupGate gate = new WakeupGate();

    @Test
    void oneCallerWakesTheThreadThatWaits() {
        assertThat(gate.beginWait()).isTrue();
        assertThat(gate.signal()).isTrue();
        assertThat(gate.signal()).isFalse();
        gate.endWait();
        assertThat(gate.beginWait()).isTrue();
    }

    @Test
    void signalBeforeTheWaitKeepsTheThreadFromBlocking() {
        assertThat(gate.signal()).isFalse();
        assertThat(gate.beginWait()).isFalse();
    }

    @Test
    void nextCallerWakesTheThreadThatTheFirstOneCouldNotWake() {
        assertThat(gate.beginWait()).isTrue();
        assertThat(gate.signal()).isTrue();
        gate.onFailure();
        assertThat(gate.signal()).isTrue();
    }

    @Test
    void failureAfterTheWaitChangesNothing() {
        assertThat(gate.beginWait()).isTrue();
        assertThat(gate.signal()).isTrue();
        gate.endWait();
        gate.onFailure();
        assertThat(gate.beginWait()).isTrue();
    }
}
