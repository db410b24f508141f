package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory windows of the public API: B binds, A writes. */
@Timeout(30)
class MemoryWindowsTest {
    private static final Set<AccessFlag> WRITE = Set.of(AccessFlag.REMOTE_WRITE);
    private static final int OFFSET = 1000;
    private static final int LENGTH = 5000;
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private TestEndpoint a;
    private TestEndpoint b;
    private MemoryWindow window;

    @BeforeEach
    void connect() {
        TestDevices.require(Capability.MEMORY_WINDOWS);
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        DirectConnections.connect(a, b);
        window = b.domain.allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        a.memory.asSlice(0, LENGTH).fill((byte) 7);
    }

    @AfterEach
    void close() {
        if (a != null) { // the device has the feature
            a.close();
            b.close();
        }
    }

    private static Errno refused(Runnable call) {
        return catchThrowableOfType(RdmaException.class, call::run).errno();
    }

    private int bind() {
        int key = window.nextRemoteKey();
        b.queuePair.postSend(new SendWorkRequest()
                .reset(1)
                .bind(window, key)
                .boundTo(b.region, OFFSET, LENGTH, WRITE)
                .signaled());
        WorkCompletion done = b.completion();
        assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(done.opcode()).isEqualTo(CompletionOpcode.BIND_MEMORY_WINDOW);
        assertThat(window.remoteKey()).isEqualTo(key);
        return key;
    }

    private CompletionStatus write(int key, long address, int length) {
        a.queuePair.postWrite(2, a.region, 0, length, new RemoteMemory(address, key, length));
        return a.completion().status();
    }

    @Test
    void peerWritesThroughTheWindowUntilItIsInvalidatedLocally() {
        int key = bind();
        assertThat(write(key, b.region.address() + OFFSET, LENGTH)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, OFFSET + LENGTH - 1)).isEqualTo((byte) 7);
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, OFFSET - 1)).isZero();
        b.queuePair.postSend(new SendWorkRequest().reset(3).localInvalidate(key).signaled());
        assertThat(b.completion().opcode()).isEqualTo(CompletionOpcode.LOCAL_INVALIDATE);
        assertThat(write(key, b.region.address() + OFFSET, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    /** Invalidates a key by a message of A. Returns the completion of its receive. */
    private WorkCompletion invalidatedByMessage(int key) {
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(4).into(b.region, 0, 100));
        a.queuePair.postSend(new SendWorkRequest()
                .reset(5)
                .withInvalidate(key)
                .from(a.region, 0, 10)
                .signaled());
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        WorkCompletion received = b.completion();
        assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
        return received;
    }

    @Test
    void peerInvalidatesTheKeyWithItsMessage() {
        int key = bind();
        invalidatedByMessage(key);
        int next = bind(); // the window is free again
        assertThat(next).isEqualTo(key + 1);
        invalidatedByMessage(next);
        assertThat(write(next, b.region.address() + OFFSET, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    @NotOn(value = Driver.RXE, because = "marks an invalidated key by a flag that libibverbs does not know")
    void receiveNamesTheKeyThatThePeerHasInvalidated() {
        int key = bind();
        WorkCompletion received = invalidatedByMessage(key);
        assertThat(received.hasInvalidatedKey()).isTrue();
        assertThat(received.invalidatedKey()).isEqualTo(key);
    }

    @Test
    void invalidBindFailsTheQueuePair() {
        MemoryRegion closed = b.domain.register(b.memory, AccessFlag.LOCAL_WRITE);
        b.queuePair.postSend(new SendWorkRequest()
                .reset(1)
                .bind(window, window.nextRemoteKey())
                .boundTo(closed, 0, 8, WRITE));
        CompletionStatus status = b.completion().status();
        if (TestDevices.driver() == Driver.RXE) { // of Linux 6.12, it flushes also the request that has failed
            assertThat(status)
                    .isIn(CompletionStatus.MEMORY_WINDOW_BIND_ERROR, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        } else {
            assertThat(status).isEqualTo(CompletionStatus.MEMORY_WINDOW_BIND_ERROR);
        }
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    @NotOn(value = Driver.RXE, because = "keeps a queue pair with a bound window for 50 s, and the kernel warns")
    void regionIsBusyWhileAWindowIsBoundToIt() {
        bind();
        assertThat(refused(b.region::close)).isEqualTo(Errno.EBUSY);
        window.close();
        window.close();
        b.region.close();
    }

    @Test
    void domainIsBusyWhileItHasAWindow() {
        var domain = b.context.createProtectionDomain();
        MemoryWindow other = domain.allocateMemoryWindow(MemoryWindow.Type.TYPE_1);
        assertThat(refused(domain::close)).isEqualTo(Errno.EBUSY);
        other.close();
        domain.close();
    }

    @Test
    @NotOn(value = Driver.RXE, because = "keeps a queue pair with a bound window for 50 s, and the kernel warns")
    void closedQueuePairFreesItsWindow() {
        QueuePair second =
                b.domain.createQueuePair(QueuePairInitAttributes.reliable(b.completions, TestEndpoint.CAPABILITIES));
        DirectConnections.connect(
                b,
                second,
                a,
                a.domain.createQueuePair(QueuePairInitAttributes.reliable(a.completions, TestEndpoint.CAPABILITIES)));
        second.postSend(new SendWorkRequest()
                .reset(1)
                .bind(window, window.nextRemoteKey())
                .boundTo(b.region, 0, 8, WRITE)
                .signaled());
        assertThat(b.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        second.close();
        bind();
    }

    @Test
    void windowOfAnotherDomainIsRefused() {
        TestDevices.require(Capability.CHECKED_REGIONS);
        MemoryWindow foreign = b.context.createProtectionDomain().allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        assertThat(refused(() -> b.queuePair.postSend(
                        new SendWorkRequest().reset(1).bind(foreign, 1).boundTo(b.region, 0, 8, WRITE))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    @NotOn(value = Driver.RXE, because = "keeps a queue pair with a bound window for 50 s, and the kernel warns")
    void typeOneServesAllQueuePairsOfTheDomain() {
        MemoryWindow one = b.domain.allocateMemoryWindow(MemoryWindow.Type.TYPE_1);
        QueuePair otherA =
                a.domain.createQueuePair(QueuePairInitAttributes.reliable(a.completions, TestEndpoint.CAPABILITIES));
        QueuePair otherB =
                b.domain.createQueuePair(QueuePairInitAttributes.reliable(b.completions, TestEndpoint.CAPABILITIES));
        DirectConnections.connect(a, otherA, b, otherB);
        int key = one.nextRemoteKey();
        b.queuePair.postSend(new SendWorkRequest()
                .reset(1)
                .bind(one, key)
                .boundTo(b.region, 0, 64, WRITE)
                .signaled());
        assertThat(b.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        otherA.postWrite(2, a.region, 0, 64, new RemoteMemory(b.region.address(), key, 64));
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        int two = bind();
        otherA.postWrite(3, a.region, 0, 64, new RemoteMemory(b.region.address() + OFFSET, two, 64));
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void zeroBasedRegionsBeginAtZero() {
        MemoryRegion zero =
                b.domain.register(b.memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED);
        assertThat(zero.address()).isZero();
        assertThat(write(zero.remoteKey(), 100, 8)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 7);
    }

    @Test
    void nothingIsWrittenOnceTheWindowIsClosed() throws InterruptedException {
        int key = bind();
        AtomicInteger writes = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            while (!stop.get() && a.queuePair.state() == QueuePairState.READY_TO_SEND) {
                a.queuePair.postWrite(
                        2, a.region, 0, LENGTH, new RemoteMemory(b.region.address() + OFFSET, key, LENGTH));
                if (!a.completion().isSuccess()) {
                    return;
                }
                writes.incrementAndGet();
            }
        });
        long giveUp = System.nanoTime() + PATIENCE_NANOS;
        while (writes.get() < 10 && System.nanoTime() - giveUp < 0) {
            Thread.sleep(1);
        }
        assertThat(writes).as("writes through the open window").hasValueGreaterThanOrEqualTo(10);
        window.close();
        b.memory.asSlice(OFFSET, LENGTH).fill((byte) 1);
        Thread.sleep(50); // a write that is not refused would arrive
        stop.set(true);
        writer.join();
        assertThat(b.memory
                        .asSlice(OFFSET, LENGTH)
                        .mismatch(a.memory.asSlice(0, LENGTH).fill((byte) 1)))
                .isEqualTo(-1);
    }
}
