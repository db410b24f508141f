package io.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class SendWorkRequestTest {
    private final SendWorkRequest request = new SendWorkRequest().reset(1);

    @Test
    void immediateDataFitASendOrAWrite() {
        assertThat(request.immediate(42).opcode()).isEqualTo(SendOpcode.SEND_WITH_IMMEDIATE);
        assertThat(request.reset(2).write(0, 0).immediate(42).opcode()).isEqualTo(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE);
        assertThat(request.reset(3).immediate(42).write(0, 0).opcode()).isEqualTo(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE);
    }

    @Test
    void immediateDataDoNotTurnAReadIntoASend() {
        assertThatIllegalStateException().isThrownBy(() -> request.read(0, 0).immediate(42));
        assertThat(request.opcode()).isEqualTo(SendOpcode.RDMA_READ);
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(2).fetchAndAdd(0, 0, 1).immediate(42));
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(3).localInvalidate(1).immediate(42));
    }

    @Test
    void onlyASendInvalidatesAKeyOfThePeer() {
        assertThat(request.invalidate(7).opcode()).isEqualTo(SendOpcode.SEND_WITH_INVALIDATE);
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(2).write(0, 0).invalidate(7));
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(3).immediate(42).invalidate(7));
    }
}
