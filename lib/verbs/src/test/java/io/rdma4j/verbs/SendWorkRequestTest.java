package io.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.SendOpcode;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SendWorkRequestTest {
    private static final MemoryRegion NO_REGION = object(MemoryRegion.class);
    private static final MemoryWindow NO_WINDOW = object(MemoryWindow.class);

    private static <T> T object(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                SendWorkRequestTest.class.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> null));
    }

    private final SendWorkRequest request = new SendWorkRequest().reset(1);

    @Test
    void immediateDataFitASendOrAWrite() {
        assertThat(request.withImmediate(42).opcode()).isEqualTo(SendOpcode.SEND_WITH_IMMEDIATE);
        assertThat(request.reset(2).write(0, 0).withImmediate(42).opcode())
                .isEqualTo(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE);
        assertThat(request.reset(3).withImmediate(42).write(0, 0).opcode())
                .isEqualTo(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE);
    }

    @Test
    void immediateDataDoNotTurnAReadIntoASend() {
        assertThatIllegalStateException().isThrownBy(() -> request.read(0, 0).withImmediate(42));
        assertThat(request.opcode()).isEqualTo(SendOpcode.RDMA_READ);
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(2).fetchAndAdd(0, 0, 1).withImmediate(42));
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(3).localInvalidate(1).withImmediate(42));
    }

    @Test
    void onlyASendInvalidatesAKeyOfThePeer() {
        assertThat(request.withInvalidate(7).opcode()).isEqualTo(SendOpcode.SEND_WITH_INVALIDATE);
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(2).write(0, 0).withInvalidate(7));
        assertThatIllegalStateException()
                .isThrownBy(() -> request.reset(3).withImmediate(42).withInvalidate(7));
    }

    @Test
    void anOperationThatDoesNotCarryAnAdditionIsRefusedAfterIt() {
        request.withImmediate(42);
        assertThatIllegalStateException().isThrownBy(() -> request.read(0, 0));
        assertThatIllegalStateException().isThrownBy(() -> request.compareAndSwap(0, 0, 1, 2));
        assertThatIllegalStateException().isThrownBy(() -> request.fetchAndAdd(0, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> request.localInvalidate(1));
        assertThat(request.opcode()).isEqualTo(SendOpcode.SEND_WITH_IMMEDIATE);
        request.reset(2).withInvalidate(7);
        assertThatIllegalStateException().isThrownBy(() -> request.write(0, 0));
        assertThatIllegalStateException().isThrownBy(() -> request.read(0, 0));
        assertThat(request.opcode()).isEqualTo(SendOpcode.SEND_WITH_INVALIDATE);
    }

    @Test
    void aReusedRequestCanSelectAnotherOperationAfterAWriteWithImmediateData() {
        request.write(0, 0).withImmediate(42);
        assertThat(request.write(0, 0).opcode()).isEqualTo(SendOpcode.RDMA_WRITE);
        assertThat(request.read(0, 0).opcode()).isEqualTo(SendOpcode.RDMA_READ);
    }

    @Test
    void onlyABindingIsBoundToMemory() {
        assertThatIllegalStateException().isThrownBy(() -> request.boundTo(NO_REGION, 0, 8, Set.of()));
        request.bind(NO_WINDOW, 7).boundTo(NO_REGION, 4, 8, Set.of(AccessFlag.REMOTE_READ));
        assertThat(request.bindRegion()).isSameAs(NO_REGION);
        assertThat(request.bindOffsetBytes()).isEqualTo(4);
        assertThat(request.bindLengthBytes()).isEqualTo(8);
        assertThat(request.bindAccess()).containsExactly(AccessFlag.REMOTE_READ);
        request.bind(NO_WINDOW, 8);
        assertThat(request.bindRegion()).isNull();
        assertThat(request.bindLengthBytes()).isZero();
    }
}
