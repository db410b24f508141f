package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Access to registered memory of a truncated mapped file fails the work request, even in compiled code, where Java
 * reports the fault later than the access. Other connections of the device continue.
 */
@Timeout(120)
class TruncatedFileTest {
    /** Enough for the second compiler. */
    private static final int WARM_UP = 30_000;

    private static final int FILE_BYTES = 8192;

    /** Work requests of the first end. The file is the memory of one of the two ends. */
    enum Operation {
        WRITE(true, CompletionStatus.REMOTE_ACCESS_ERROR),
        READ(true, CompletionStatus.REMOTE_ACCESS_ERROR),
        FETCH_AND_ADD(true, CompletionStatus.REMOTE_ACCESS_ERROR),
        ATOMIC_WRITE(true, CompletionStatus.REMOTE_ACCESS_ERROR),
        RECEIVE(true, CompletionStatus.REMOTE_OPERATION_ERROR),
        SEND_FROM_FILE(false, CompletionStatus.LOCAL_PROTECTION_ERROR),
        READ_INTO_FILE(false, CompletionStatus.LOCAL_PROTECTION_ERROR);

        private final boolean isFileRemote;
        private final CompletionStatus expected;

        Operation(boolean isFileRemote, CompletionStatus expected) {
            this.isFileRemote = isFileRemote;
            this.expected = expected;
        }
    }

    @TempDir
    Path directory;

    private SendWorkRequest request = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

    private WorkCompletion run(Operation operation, TestEndpoint a, TestEndpoint b, MemoryRegion file) {
        request = new SendWorkRequest().reset(1);
        switch (operation) {
            case WRITE -> request.write(file.address(), file.remoteKey()).from(a.region, 0, 8);
            case READ -> request.read(file.address(), file.remoteKey()).from(a.region, 0, 8);
            case FETCH_AND_ADD ->
                request.fetchAndAdd(file.address(), file.remoteKey(), 1).from(a.region, 0, 8);
            case ATOMIC_WRITE -> request.atomicWrite(file.address(), file.remoteKey(), 7);
            case RECEIVE -> {
                b.queuePair.postReceive(receive.reset(2).into(file, 0, 8));
                request = SendWorkRequest.send(1, a.region, 0, 8);
            }
            case SEND_FROM_FILE -> {
                b.queuePair.postReceive(receive.reset(2).into(b.region, 0, 8));
                request = SendWorkRequest.send(1, file, 0, 8);
            }
            case READ_INTO_FILE ->
                request.read(b.region.address(), b.region.remoteKey()).from(file, 0, 8);
        }
        a.queuePair.postSend(request.signaled());
        WorkCompletion done = a.completion();
        WorkCompletion[] received = WorkCompletion.array(1);
        int _ = b.completions.poll(received);
        return done;
    }

    @ParameterizedTest
    @EnumSource
    void accessFailsTheWorkRequestAndNothingElse(Operation operation) throws IOException {
        InetAddress address = InetAddress.getLoopbackAddress();
        try (SoftStack stack = SoftStack.builder().withoutSharedMemory().build();
                FileChannel channel = FileChannel.open(
                        Files.createTempFile(directory, "memory", ""),
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            Device device = stack.deviceOf(address).orElseThrow();
            try (TestEndpoint a = new TestEndpoint(device.open(), address);
                    TestEndpoint b = new TestEndpoint(device.open(), address);
                    TestEndpoint other = new TestEndpoint(device.open(), address);
                    TestEndpoint peer = new TestEndpoint(device.open(), address)) {
                TestEndpoint.connect(a, b);
                TestEndpoint.connect(other, peer);
                MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES, Arena.ofAuto());
                MemoryRegion file = (operation.isFileRemote ? b : a).domain.register(mapped, TestEndpoint.ALL);
                for (int i = 0; i < WARM_UP; i++) {
                    assertThat(run(operation, a, b, file).status()).isEqualTo(CompletionStatus.SUCCESS);
                }
                channel.truncate(0);
                assertThat(run(operation, a, b, file).status()).isEqualTo(operation.expected);
                assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
                for (int i = 0; i < 100; i++) {
                    other.queuePair.postSend(request.reset(3)
                            .read(peer.region.address(), peer.region.remoteKey())
                            .from(other.region, 0, 8)
                            .signaled());
                    assertThat(other.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
                }
                assertThat(stack.counters()).containsEntry("process_qp_faults", 0L);
            }
        }
    }
}
