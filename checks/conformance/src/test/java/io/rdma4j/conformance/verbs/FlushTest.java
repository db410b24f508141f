package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** FLUSH and ATOMIC WRITE between two queue pairs of one process. */
@Timeout(30)
class FlushTest {
    private static final int BYTES = 10_000;
    private static final Set<PlacementType> GLOBAL = Set.of(PlacementType.GLOBAL);
    private static final Set<PlacementType> BOTH = EnumSet.allOf(PlacementType.class);

    private TestEndpoint a;
    private TestEndpoint b;
    private Arena arena;

    @BeforeEach
    void connect() {
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        arena = Arena.ofShared();
        TestDevices.require(Capability.FLUSH);
        DirectConnections.connect(a, b);
        Set<AccessFlag> rights = EnumSet.copyOf(TestEndpoint.ALL);
        rights.remove(AccessFlag.LOCAL_WRITE);
        rights.remove(AccessFlag.MEMORY_WINDOW_BIND);
        rights.add(AccessFlag.FLUSH_GLOBAL);
        rights.add(AccessFlag.FLUSH_PERSISTENT);
        b.queuePair.modify(new QueuePairAttributes().accessFlags(rights));
        for (int i = 0; i < BYTES; i++) {
            a.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        arena.close();
    }

    private static MemoryRegion register(TestEndpoint end, MemorySegment memory, AccessFlag... flush) {
        Set<AccessFlag> rights = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        rights.addAll(List.of(flush));
        return end.domain.register(memory, rights.toArray(AccessFlag[]::new));
    }

    private WorkCompletion complete(SendWorkRequest request) {
        a.queuePair.postSend(request.signaled());
        return a.completion();
    }

    private void succeeds(SendWorkRequest request, CompletionOpcode opcode, long bytes) {
        WorkCompletion completion = complete(request);
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.opcode()).isEqualTo(opcode);
        assertThat(completion.byteLength()).isEqualTo(bytes);
    }

    @Test
    void writesAreVisibleAfterAFlush() {
        try (MemoryRegion target = register(b, arena.allocate(BYTES), AccessFlag.FLUSH_GLOBAL)) {
            a.queuePair.postSend(new SendWorkRequest()
                    .reset(1)
                    .write(target.address(), target.remoteKey())
                    .from(a.region, 0, BYTES));
            succeeds(SendWorkRequest.flush(2, target.remote(), GLOBAL), CompletionOpcode.FLUSH, BYTES);
            assertThat(target.memory().mismatch(a.memory.asSlice(0, BYTES))).isEqualTo(-1);
            succeeds(new SendWorkRequest().reset(3).flushRegion(target.remoteKey(), GLOBAL), CompletionOpcode.FLUSH, 0);
        }
    }

    @Test
    void aMappedFileIsMadePersistent(@TempDir Path folder) throws IOException {
        Path path = Files.write(folder.resolve("memory"), new byte[BYTES]);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
                MemoryRegion target = register(
                        b,
                        file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena),
                        AccessFlag.FLUSH_GLOBAL,
                        AccessFlag.FLUSH_PERSISTENT)) {
            a.queuePair.postSend(new SendWorkRequest()
                    .reset(1)
                    .write(target.address() + 100, target.remoteKey())
                    .from(a.region, 0, 5000));
            succeeds(SendWorkRequest.flush(2, target.remote().slice(100, 5000), BOTH), CompletionOpcode.FLUSH, 5000);
            MemorySegment content = MemorySegment.ofArray(Files.readAllBytes(path));
            assertThat(content.asSlice(100, 5000).mismatch(a.memory.asSlice(0, 5000)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void otherMemoryCannotBeRegisteredAsPersistent() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> register(b, arena.allocate(64), AccessFlag.FLUSH_PERSISTENT))
                .satisfies(refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining("Only a mapped file can be made persistent");
    }

    @ParameterizedTest
    @EnumSource
    void theRegionMustGrantTheRight(PlacementType type) {
        MemoryRegion target = register(b, arena.allocate(64));
        assertThat(complete(SendWorkRequest.flush(1, target.remote(), Set.of(type)))
                        .status())
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void theQueuePairMustGrantTheRight() {
        b.queuePair.modify(new QueuePairAttributes().accessFlags(EnumSet.of(AccessFlag.REMOTE_WRITE)));
        MemoryRegion target = register(b, arena.allocate(64), AccessFlag.FLUSH_GLOBAL);
        assertThat(complete(SendWorkRequest.flush(1, target.remote(), GLOBAL)).status())
                .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void eightBytesAreWrittenAtOnce() {
        b.memory.fill((byte) 0);
        succeeds(
                SendWorkRequest.atomicWrite(1, b.region.remote().slice(64, 8), 0x0102_0304_0506_0708L),
                CompletionOpcode.ATOMIC_WRITE,
                8);
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 56)).isZero();
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 72)).isZero();
    }

    @Test
    void anAtomicWriteNeedsAnAlignedAddress() {
        assertThat(complete(SendWorkRequest.atomicWrite(1, b.region.remote().slice(4, 8), 1))
                        .status())
                .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void manyAreCompletedInOrder() {
        try (MemoryRegion target = register(b, arena.allocate(64, 8), AccessFlag.FLUSH_GLOBAL)) {
            RemoteMemory first = target.remote().slice(0, 8);
            for (int i = 0; i < 20; i++) {
                a.queuePair.postSend(
                        SendWorkRequest.atomicWrite(2L * i, first, i).signaled());
                a.queuePair.postSend(
                        SendWorkRequest.flush(2L * i + 1, first, GLOBAL).signaled());
            }
            for (int i = 0; i < 40; i++) {
                WorkCompletion completion = a.completion();
                assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(completion.id()).isEqualTo(i);
            }
            assertThat(target.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(19);
        }
    }

    @Test
    void requestsThatMakeNoSenseAreRefused() {
        RemoteMemory target = b.region.remote();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SendWorkRequest.flush(1, target, Set.of()))
                .withMessage("a FLUSH needs a placement type");
        assertThatIllegalArgumentException().isThrownBy(() -> new SendWorkRequest().flush(0, 0, -1, GLOBAL));
        assertThatIllegalArgumentException().isThrownBy(() -> SendWorkRequest.atomicWrite(1, target.slice(0, 7), 0));
        assertThatIllegalStateException()
                .isThrownBy(() -> SendWorkRequest.flush(1, target, GLOBAL).withImmediate(1));
        refused(SendWorkRequest.flush(1, target, GLOBAL).from(a.region, 0, 8), "FLUSH with local memory");
        refused(SendWorkRequest.atomicWrite(1, target, 1).inline(), "ATOMIC_WRITE inline");
        refused(
                new SendWorkRequest().reset(1).flush(target.address(), target.key(), (1L << 31) + 1, GLOBAL),
                "a FLUSH of 2147483649 bytes");
    }

    private void refused(SendWorkRequest request, String message) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> a.queuePair.postSend(request))
                .satisfies(refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining(message);
    }
}
