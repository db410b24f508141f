package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Changes of registered memory: what a peer and posted work requests may do before, during and after them. */
@Timeout(60)
class ReregistrationTest {
    private static final int BYTES = 4096;
    private static final Set<AccessFlag> WRITABLE = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private static final Set<AccessFlag> READABLE = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);

    private TestEndpoint a;
    private TestEndpoint b;
    private MemorySegment memory;
    private MemoryRegion region;

    @BeforeEach
    void open() {
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        DirectConnections.connect(a, b);
        memory = Arena.ofAuto().allocate(BYTES, BYTES);
        region = b.domain.register(memory, WRITABLE);
        a.memory.set(JAVA_LONG, 0, 42);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private CompletionStatus write(RemoteMemory to) {
        a.queuePair.postWrite(1, a.region, 0, 8, to);
        return a.completion().status();
    }

    private CompletionStatus read(RemoteMemory from) {
        a.queuePair.postRead(2, a.region, 64, 8, from);
        return a.completion().status();
    }

    @Test
    void newRightsTakeEffectWhenTheCallReturns() {
        TestDevices.require(Capability.REREGISTRATION);
        assertThat(write(region.remote())).isEqualTo(CompletionStatus.SUCCESS);
        region.reregister(MemoryRegionChange.ofAccess(READABLE));
        assertThat(region.access()).isEqualTo(READABLE);
        assertThat(region.memory()).isEqualTo(memory);
        assertThat(region.protectionDomain()).isEqualTo(b.domain);
        assertThat(read(region.remote())).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(a.memory.get(JAVA_LONG, 64)).isEqualTo(42);
        a.memory.set(JAVA_LONG, 0, 43);
        assertThat(write(region.remote())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(42);
    }

    @Test
    void otherMemoryTakesThePlaceOfTheOld() {
        TestDevices.require(Capability.REREGISTRATION);
        MemorySegment larger = Arena.ofAuto().allocate(4 * BYTES, BYTES);
        region.reregister(MemoryRegionChange.ofMemory(larger));
        assertThat(region.memory()).isEqualTo(larger);
        assertThat(region.lengthBytes()).isEqualTo(4 * BYTES);
        assertThat(region.access()).isEqualTo(WRITABLE);
        assertThat(write(region.remote().slice(3 * BYTES, 8))).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(larger.get(JAVA_LONG, 3 * BYTES)).isEqualTo(42);
        assertThat(memory.mismatch(MemorySegment.ofArray(new byte[BYTES]))).isEqualTo(-1);
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(3).into(region, 2 * BYTES, 8)); // as local memory
        a.queuePair.postSend(new SendWorkRequest().reset(4).from(a.region, 0, 8));
        assertThat(b.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(larger.get(JAVA_LONG, 2 * BYTES)).isEqualTo(42);
    }

    @Test
    void aPeerWithTheOldAddressAndKeyReachesNeitherMemory() {
        TestDevices.require(Capability.REREGISTRATION);
        RemoteMemory old = region.remote();
        MemorySegment other = Arena.ofAuto().allocate(BYTES, BYTES);
        region.reregister(MemoryRegionChange.ofMemory(other));
        assertThat(write(old)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(memory.get(JAVA_LONG, 0)).isZero();
        assertThat(other.get(JAVA_LONG, 0)).isZero();
    }

    @Test
    void anotherDomainHasTheMemoryFromThenOn() {
        TestDevices.require(Capability.REREGISTRATION);
        try (ProtectionDomain other = b.context.createProtectionDomain()) {
            region.reregister(MemoryRegionChange.ofProtectionDomain(other));
            assertThat(region.protectionDomain()).isEqualTo(other);
            assertThatThrownBy(other::close)
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            refused -> assertThat(refused.errno()).isEqualTo(Errno.EBUSY));
            assertThat(write(region.remote())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            region.close();
        }
    }

    @Test
    void memoryDomainAndRightsChangeAtOnce() {
        TestDevices.require(Capability.REREGISTRATION);
        MemorySegment other = Arena.ofAuto().allocate(BYTES, BYTES);
        try (ProtectionDomain first = b.context.createProtectionDomain();
                MemoryRegion moved = first.register(memory, AccessFlag.LOCAL_WRITE)) {
            moved.reregister(MemoryRegionChange.ofMemory(other)
                    .withProtectionDomain(b.domain)
                    .withAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
            assertThat(write(moved.remote())).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(other.get(JAVA_LONG, 0)).isEqualTo(42);
            moved.reregister(MemoryRegionChange.ofProtectionDomain(first)); // so that close() finds it empty
        }
    }

    @Test
    void aPostedReceiveIsExecutedWithTheRightsOfTheMoment() {
        TestDevices.require(Capability.REREGISTRATION);
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(3).into(region, 0, 8));
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(4).into(region, 8, 8));
        region.reregister(MemoryRegionChange.ofAccess(AccessFlag.LOCAL_WRITE));
        a.queuePair.postSend(new SendWorkRequest().reset(5).from(a.region, 0, 8));
        assertThat(b.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(42);
        region.reregister(MemoryRegionChange.ofAccess(AccessFlag.REMOTE_READ));
        a.queuePair.postSend(new SendWorkRequest().reset(6).from(a.region, 0, 8));
        assertThat(b.completion().status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(memory.get(JAVA_LONG, 8)).isZero();
    }

    @Test
    @NotOn(value = Driver.OTHER, because = "lets its driver decide whether memory with a bound window can change")
    void memoryWithABoundWindowIsNotChanged() {
        TestDevices.require(Capability.REREGISTRATION);
        TestDevices.require(Capability.MEMORY_WINDOWS);
        region.reregister(MemoryRegionChange.ofAccess(AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND));
        MemoryWindow window = b.domain.allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        int key = window.nextRemoteKey();
        b.queuePair.postSend(new SendWorkRequest()
                .reset(3)
                .bind(window, key)
                .boundTo(region, 0, BYTES, Set.of(AccessFlag.REMOTE_WRITE))
                .signaled());
        assertThat(b.completion().isSuccess()).isTrue();
        assertRefused(
                Errno.EBUSY,
                "1 memory windows are bound to",
                () -> region.reregister(MemoryRegionChange.ofAccess(READABLE)));
        assertRefused(
                Errno.EBUSY,
                "1 memory windows are bound to",
                () -> region.reregister(MemoryRegionChange.ofMemory(memory)));
        assertThat(write(new RemoteMemory(region.address(), key, 8))).isEqualTo(CompletionStatus.SUCCESS);
        window.close();
        region.reregister(MemoryRegionChange.ofAccess(READABLE));
        assertThat(read(region.remote())).isEqualTo(CompletionStatus.SUCCESS);
    }

    /** Even on a device that cannot change memory, a refused change has no effect. */
    @Test
    void aRefusedChangeLeavesTheRegistrationAsItWas() {
        RemoteMemory before = region.remote();
        refused(MemoryRegionChange.ofAccess(AccessFlag.REMOTE_WRITE), "need local write");
        refused(new MemoryRegionChange(null, null, null), "Change the memory, the protection domain or");
        refused(MemoryRegionChange.ofProtectionDomain(a.domain), "the protection domain is of another open device");
        refused(
                MemoryRegionChange.ofAccess(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED),
                "ZERO_BASED changes the addresses");
        try (Arena confined = Arena.ofConfined()) {
            refused(MemoryRegionChange.ofMemory(confined.allocate(BYTES)), "confined to one thread");
        }
        refused(MemoryRegionChange.ofMemory(Arena.ofAuto().allocate(BYTES).asReadOnly()), "read-only");
        try {
            region.reregister(MemoryRegionChange.ofAccess(WRITABLE)); // the same
        } catch (RdmaException unsupported) {
            assertThat(unsupported.errno()).isEqualTo(Errno.EOPNOTSUPP);
            assertThat(region.remote()).isEqualTo(before);
        }
        assertThat(region.access()).isEqualTo(WRITABLE);
        assertThat(region.memory()).isEqualTo(memory);
        assertThat(region.protectionDomain()).isEqualTo(b.domain);
        assertThat(write(region.remote())).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(42);
    }

    private void refused(MemoryRegionChange change, String words) {
        assertRefused(Errno.EINVAL, words, () -> region.reregister(change));
    }

    @Test
    void closedObjectsRefuse() {
        ProtectionDomain closed = b.context.createProtectionDomain();
        closed.close();
        assertThatThrownBy(() -> region.reregister(MemoryRegionChange.ofProtectionDomain(closed)))
                .isInstanceOf(ClosedException.class);
        region.close();
        assertThatThrownBy(() -> region.reregister(MemoryRegionChange.ofAccess(READABLE)))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("ibv_rereg_mr");
    }

    /** The peer writes all the time. Each of its requests is allowed before and after each change, so that none may fail. */
    @Test
    void aPeerThatWritesDuringChangesSeesTheOldOrTheNewRights() throws Exception {
        TestDevices.require(Capability.REREGISTRATION);
        RemoteMemory remote = region.remote();
        AtomicBoolean done = new AtomicBoolean();
        AtomicLong writes = new AtomicLong();
        CompletableFuture<CompletionStatus> writer = CompletableFuture.supplyAsync(() -> {
            CompletionStatus status = CompletionStatus.SUCCESS;
            while (!done.get() && status == CompletionStatus.SUCCESS) {
                a.queuePair.postWrite(1, a.region, 0, BYTES, remote); // of several packets
                status = a.completion().status();
                writes.incrementAndGet();
            }
            return status;
        });
        for (int i = 0; i < 2000 || writes.get() < 200; i++) {
            region.reregister(MemoryRegionChange.ofAccess((i & 1) == 0 ? TestEndpoint.ALL : WRITABLE));
            if (writer.isDone() || !region.remote().equals(remote)) { // hardware may change the key
                break;
            }
        }
        done.set(true);
        CompletionStatus last = writer.get(30, TimeUnit.SECONDS);
        if (region.remote().equals(remote)) {
            assertThat(last).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    /** The peer writes all the time while its memory is replaced: when the call has returned, the old memory stays as it is. */
    @Test
    void nothingIsWrittenToTheOldMemoryAfterAChange() throws Exception {
        TestDevices.require(Capability.REREGISTRATION);
        RemoteMemory remote = region.remote();
        a.memory.asSlice(0, BYTES).fill((byte) 7);
        CompletableFuture<CompletionStatus> writer = CompletableFuture.supplyAsync(() -> {
            CompletionStatus status = CompletionStatus.SUCCESS;
            while (status == CompletionStatus.SUCCESS) {
                a.queuePair.postWrite(1, a.region, 0, BYTES, remote);
                status = a.completion().status();
            }
            return status;
        });
        while (memory.get(JAVA_BYTE, BYTES - 1) != 7) {
            Thread.onSpinWait();
        }
        MemorySegment other = Arena.ofAuto().allocate(BYTES, BYTES);
        region.reregister(MemoryRegionChange.ofMemory(other));
        memory.fill((byte) 1);
        assertThat(writer.get(30, TimeUnit.SECONDS)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        byte[] ones = new byte[BYTES];
        MemorySegment.ofArray(ones).fill((byte) 1);
        assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(ones);
        assertThat(other.mismatch(MemorySegment.ofArray(new byte[BYTES]))).isEqualTo(-1);
    }

    @Test
    void theArenaOfTheOldMemoryCanBeClosedAfterAChange() {
        TestDevices.require(Capability.REREGISTRATION);
        Arena old = Arena.ofShared();
        Arena fresh = Arena.ofShared();
        try (MemoryRegion moved = b.domain.register(old.allocate(BYTES, BYTES), WRITABLE)) {
            moved.reregister(MemoryRegionChange.ofMemory(fresh.allocate(BYTES, BYTES)));
            old.close();
            assertThat(write(moved.remote())).isEqualTo(CompletionStatus.SUCCESS);
        }
        fresh.close();
    }

    @Test
    void inlineDataOfAPieceThatIsNoLongerThereIsRefused() {
        TestDevices.require(Capability.REREGISTRATION);
        SendWorkRequest inline = new SendWorkRequest()
                .reset(3)
                .from(region, BYTES - 8, 8)
                .inline()
                .signaled();
        region.reregister(MemoryRegionChange.ofMemory(memory.asSlice(0, 64)));
        assertRefused(Errno.EINVAL, "piece 0 ends after the 64 bytes of", () -> b.queuePair.postSend(inline));
    }
}
