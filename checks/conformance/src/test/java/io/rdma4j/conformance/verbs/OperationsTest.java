package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every operation of a reliable connection, between two queue pairs of one process. */
@Timeout(30)
class OperationsTest {
    private static final int BYTES = 10_000;

    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void connect() {
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        DirectConnections.connect(a, b);
        for (int i = 0; i < BYTES; i++) {
            a.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private static void assertSame(MemorySegment left, MemorySegment right, long bytes) {
        assertThat(left.asSlice(0, bytes).mismatch(right.asSlice(0, bytes))).isEqualTo(-1);
    }

    private WorkCompletion succeeds(TestEndpoint side, long id, CompletionOpcode opcode) {
        WorkCompletion completion = side.completion();
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.id()).isEqualTo(id);
        assertThat(completion.opcode()).isEqualTo(opcode);
        return completion;
    }

    @Test
    void writtenBytesLandInThePeersMemory() {
        a.queuePair.postWrite(7, a.region, 0, BYTES, b.region.remote());
        succeeds(a, 7, CompletionOpcode.RDMA_WRITE);
        assertSame(a.memory, b.memory, BYTES);
    }

    @Test
    void readBytesLandInLocalMemory() {
        b.queuePair.postRead(8, b.region, 0, BYTES, a.region.remote());
        succeeds(b, 8, CompletionOpcode.RDMA_READ);
        assertSame(a.memory, b.memory, BYTES);
    }

    @Test
    void sentMessageTakesOneReceive() {
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(b.region));
        a.queuePair.postSend(
                new SendWorkRequest().reset(2).from(a.region, 0, BYTES).signaled());
        succeeds(a, 2, CompletionOpcode.SEND);
        assertThat(succeeds(b, 1, CompletionOpcode.RECEIVE).byteLength()).isEqualTo(BYTES);
        assertSame(a.memory, b.memory, BYTES);
    }

    @Test
    void receivesPostedTogetherAreTakenInOrder() {
        ReceiveWorkRequest[] receives = new ReceiveWorkRequest[4];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = new ReceiveWorkRequest().reset(i).into(b.region, 1000L * i, 1000);
        }
        b.queuePair.postReceives(receives, 3);
        for (int i = 0; i < 3; i++) {
            a.queuePair.postSend(new SendWorkRequest()
                    .reset(i)
                    .from(a.region, 1000L * i, 1000)
                    .signaled());
            succeeds(a, i, CompletionOpcode.SEND);
            succeeds(b, i, CompletionOpcode.RECEIVE);
        }
        assertSame(a.memory, b.memory, 3000);
    }

    @Test
    void firstInvalidReceiveOfSeveralIsNamedAndThoseBeforeItArePosted() {
        ReceiveWorkRequest[] receives = new ReceiveWorkRequest[3];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = new ReceiveWorkRequest().reset(i).into(b.region, 0, 100);
        }
        for (int piece = 0; piece < 100; piece++) {
            receives[1].into(b.region, 0, 1);
        }
        assertThatExceptionOfType(PartialPostException.class)
                .isThrownBy(() -> b.queuePair.postReceives(receives, 3))
                .withMessageContaining("ibv_post_recv")
                .withMessageContaining("101 pieces")
                .satisfies(e -> assertThat(e.posted()).isEqualTo(1));
        a.queuePair.postSend(
                new SendWorkRequest().reset(5).from(a.region, 0, 100).signaled());
        succeeds(a, 5, CompletionOpcode.SEND);
        succeeds(b, 0, CompletionOpcode.RECEIVE);
    }

    @Test
    void immediateDataArriveWithTheWrite() {
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(3));
        a.queuePair.postSend(new SendWorkRequest()
                .reset(4)
                .write(b.region.address(), b.region.remoteKey())
                .withImmediate(0xcafe)
                .from(a.region, 0, 100)
                .signaled());
        succeeds(a, 4, CompletionOpcode.RDMA_WRITE);
        WorkCompletion received = succeeds(b, 3, CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
        assertThat(received.hasImmediate()).isTrue();
        assertThat(received.immediate()).isEqualTo(0xcafe);
        assertThat(received.byteLength()).isEqualTo(100);
    }

    @Test
    void requestsPostedTogetherAreExecutedInOrder() {
        SendWorkRequest[] requests = new SendWorkRequest[10];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new SendWorkRequest()
                    .reset(i)
                    .write(b.region.address() + 1000L * i, b.region.remoteKey())
                    .from(a.region, 1000L * i, 1000)
                    .signaled();
        }
        a.queuePair.postSends(requests, 9);
        for (int i = 0; i < 9; i++) {
            succeeds(a, i, CompletionOpcode.RDMA_WRITE);
        }
        assertSame(a.memory, b.memory, 9000);
        assertThat(b.memory.asSlice(9000, 1000).mismatch(MemorySegment.ofArray(new byte[1000])))
                .isEqualTo(-1);
    }

    @Test
    void firstInvalidRequestOfSeveralIsNamedAndThoseBeforeItAreExecuted() {
        SendWorkRequest[] requests = new SendWorkRequest[3];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new SendWorkRequest()
                    .reset(i)
                    .write(b.region.address(), b.region.remoteKey())
                    .from(a.region, 0, 100)
                    .signaled();
        }
        for (int piece = 0; piece < 100; piece++) {
            requests[1].from(a.region, 0, 1);
        }
        assertThatExceptionOfType(PartialPostException.class)
                .isThrownBy(() -> a.queuePair.postSends(requests, 3))
                .withMessageContaining("ibv_post_send")
                .withMessageContaining("101 pieces")
                .satisfies(e -> assertThat(e.posted()).isEqualTo(1));
        succeeds(a, 0, CompletionOpcode.RDMA_WRITE);
        a.queuePair.postSends(requests, 1);
        succeeds(a, 0, CompletionOpcode.RDMA_WRITE);
    }

    @Test
    void fetchAndAddReturnsTheOldValue() {
        b.memory.set(ValueLayout.JAVA_LONG, 64, 40);
        a.queuePair.postSend(new SendWorkRequest()
                .reset(5)
                .fetchAndAdd(b.region.address() + 64, b.region.remoteKey(), 2)
                .from(a.region, 128, 8)
                .signaled());
        succeeds(a, 5, CompletionOpcode.FETCH_AND_ADD);
        assertThat(a.memory.get(ValueLayout.JAVA_LONG, 128)).isEqualTo(40);
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(42);
    }

    @Test
    void compareAndSwapChangesOnlyTheExpectedValue() {
        b.memory.set(ValueLayout.JAVA_LONG, 64, 40);
        for (long expected = 40; expected <= 41; expected++) {
            a.queuePair.postSend(new SendWorkRequest()
                    .reset(expected)
                    .compareAndSwap(b.region.address() + 64, b.region.remoteKey(), expected, 50)
                    .from(a.region, 128, 8)
                    .signaled());
            succeeds(a, expected, CompletionOpcode.COMPARE_AND_SWAP);
        }
        assertThat(a.memory.get(ValueLayout.JAVA_LONG, 128)).isEqualTo(50);
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(50);
    }

    @Test
    void inlineDataMayBeChangedAtOnce() {
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(b.region));
        byte first = a.memory.get(ValueLayout.JAVA_BYTE, 1);
        a.queuePair.postSend(
                new SendWorkRequest().reset(2).from(a.region, 1, 64).inline().signaled());
        a.memory.set(ValueLayout.JAVA_BYTE, 1, (byte) (first + 1));
        succeeds(b, 1, CompletionOpcode.RECEIVE);
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(first);
    }

    @Test
    void wrongKeyIsARemoteAccessErrorAndFlushesTheRest() {
        a.queuePair.postWrite(1, a.region, 0, 8, new RemoteMemory(b.region.address(), ~b.region.remoteKey(), 8));
        a.queuePair.postWrite(2, a.region, 0, 8, b.region.remote());
        WorkCompletion failed = a.completion();
        assertThat(failed.id()).isEqualTo(1);
        assertThat(failed.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        WorkCompletion flushed = a.completion();
        assertThat(flushed.id()).isEqualTo(2);
        assertThat(flushed.status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }

    @Test
    void heapMemoryWorksLikeNative() {
        TestDevices.require(Capability.HEAP_MEMORY);
        byte[] bytes = "from the heap".getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (var region = a.domain.register(MemorySegment.ofArray(bytes))) {
            a.queuePair.postWrite(1, region, 0, bytes.length, b.region.remote());
            succeeds(a, 1, CompletionOpcode.RDMA_WRITE);
        }
        assertSame(MemorySegment.ofArray(bytes), b.memory, bytes.length);
    }
}
