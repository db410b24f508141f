package io.rdma4j.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Looks up constants by their numbers, and checks the predicates of opcodes. */
class CodesTest {
    private static final int BEYOND_ALL = 0x200;

    private static <E extends Enum<E>> void requireLookUp(
            E[] constants, ToIntFunction<E> code, IntFunction<Optional<E>> ofCode) {
        List<Integer> codes = Arrays.stream(constants).map(code::applyAsInt).toList();
        assertThat(codes).doesNotHaveDuplicates();
        for (int number = -1; number <= BEYOND_ALL; number++) {
            int index = codes.indexOf(number);
            assertThat(ofCode.apply(number)).isEqualTo(index < 0 ? Optional.empty() : Optional.of(constants[index]));
        }
        assertThat(ofCode.apply(Integer.MIN_VALUE)).isEmpty();
        assertThat(ofCode.apply(Integer.MAX_VALUE)).isEmpty();
    }

    @Test
    void everyConstantIsFoundByItsNumberAndNoOtherNumberIs() {
        requireLookUp(SendOpcode.values(), SendOpcode::code, SendOpcode::ofCode);
        requireLookUp(RejectReason.values(), RejectReason::code, RejectReason::ofCode);
        requireLookUp(QueuePairState.values(), QueuePairState::code, QueuePairState::ofCode);
        requireLookUp(QueuePairType.values(), QueuePairType::code, QueuePairType::ofCode);
        requireLookUp(PortSpace.values(), PortSpace::code, PortSpace::ofCode);
    }

    @Test
    void unknownStatusesAreGeneralErrors() {
        for (CompletionStatus status : CompletionStatus.values()) {
            assertThat(CompletionStatus.ofCode(status.code())).isEqualTo(status);
        }
        assertThat(CompletionStatus.ofCode(-1)).isEqualTo(CompletionStatus.GENERAL_ERROR);
        assertThat(CompletionStatus.ofCode(22)).isEqualTo(CompletionStatus.GENERAL_ERROR);
    }

    @Test
    void pathMtusHaveTheNumbersOfTheirSizes() {
        for (PathMtu mtu : PathMtu.values()) {
            assertThat(PathMtu.ofCode(mtu.code())).isEqualTo(mtu);
            assertThat(mtu).hasToString("MTU_" + mtu.bytes());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 6})
    void otherNumbersAreNoPathMtu(int code) {
        assertThatThrownBy(() -> PathMtu.ofCode(code)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void everyOpcodeIsLocalOrCarriesPayloadOrNeedsAResponse() {
        Set<SendOpcode> local = EnumSet.of(SendOpcode.BIND_MEMORY_WINDOW, SendOpcode.LOCAL_INVALIDATE);
        Set<SendOpcode> atomic = EnumSet.of(SendOpcode.COMPARE_AND_SWAP, SendOpcode.FETCH_AND_ADD);
        Set<SendOpcode> answered = EnumSet.of(SendOpcode.RDMA_READ, SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE);
        answered.addAll(atomic);
        Set<SendOpcode> withMemory = EnumSet.complementOf(EnumSet.of(SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE));
        withMemory.removeAll(local);
        for (SendOpcode opcode : SendOpcode.values()) {
            assertThat(opcode.isLocal()).as("%s", opcode).isEqualTo(local.contains(opcode));
            assertThat(opcode.isAtomic()).as("%s", opcode).isEqualTo(atomic.contains(opcode));
            assertThat(opcode.needsResponse()).as("%s", opcode).isEqualTo(answered.contains(opcode));
            assertThat(opcode.hasLocalMemory()).as("%s", opcode).isEqualTo(withMemory.contains(opcode));
            assertThat(opcode.carriesPayload())
                    .as("%s", opcode)
                    .isEqualTo(!local.contains(opcode) && !answered.contains(opcode));
        }
    }
}
