package io.rdma4j.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class CompletionWriterTest {
    private final WorkCompletion completion = new WorkCompletion();

    @Test
    void aHolderReturnsWhatWasWritten() {
        CompletionWriter.start(completion, 7, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 0x123456);
        CompletionWriter.data(completion, 64, true, false, 42);
        CompletionWriter.source(completion, 9, true, 2);
        CompletionWriter.timestamp(completion, 1_000);
        assertThat(completion.id()).isEqualTo(7);
        assertThat(completion.isSuccess()).isTrue();
        assertThat(completion.queuePairNumber()).isEqualTo(0x123456);
        assertThat(completion.opcode()).isEqualTo(CompletionOpcode.RECEIVE);
        assertThat(completion.byteLength()).isEqualTo(64);
        assertThat(completion.hasImmediate()).isTrue();
        assertThat(completion.immediate()).isEqualTo(42);
        assertThat(completion.sourceQueuePairNumber()).isEqualTo(9);
        assertThat(completion.hasGlobalRoute()).isTrue();
        assertThat(completion.serviceLevel()).isEqualTo(2);
        assertThat(completion.timestampNanos()).isEqualTo(1_000);
    }

    @Test
    void nothingOfThePreviousCompletionStays() {
        CompletionWriter.start(completion, 1, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 1);
        CompletionWriter.data(completion, 8, true, false, 42);
        CompletionWriter.source(completion, 9, true, 2);
        CompletionWriter.start(completion, 2, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 1);
        CompletionWriter.data(completion, 8, false, true, 43);
        assertThat(completion.hasImmediate()).isFalse();
        assertThat(completion.hasInvalidatedKey()).isTrue();
        assertThat(completion.invalidatedKey()).isEqualTo(43);
        assertThat(completion.hasGlobalRoute()).isFalse();
        assertThat(completion.serviceLevel()).isZero();
        assertThat(completion.sourceQueuePairNumber()).isZero();
    }

    @Test
    void theFirstReadingDecidesATimeThatTheProviderDoesNotKnow() {
        long beforeNanos = System.nanoTime();
        CompletionWriter.timestampOfFirstReading(completion, System::nanoTime);
        long readNanos = completion.timestampNanos();
        assertThat(readNanos - beforeNanos).isNotNegative();
        assertThat(System.nanoTime() - readNanos).isNotNegative();
        assertThat(completion.timestampNanos()).isEqualTo(readNanos);
        CompletionWriter.timestampOfFirstReading(completion, System::nanoTime);
        CompletionWriter.timestamp(completion, 7);
        assertThat(completion.timestampNanos()).isEqualTo(7);
    }

    @Test
    void aProgramOnlyReads() {
        assertThat(Arrays.stream(WorkCompletion.class.getMethods())
                        .filter(method -> method.getDeclaringClass() != Object.class)
                        .filter(method -> !Modifier.isStatic(method.getModifiers()))
                        .filter(method -> method.getParameterCount() > 0)
                        .map(Method::getName))
                .isEmpty();
        assertThat(WorkCompletion.class.getFields()).isEmpty();
    }
}
