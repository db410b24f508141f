package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory registration: valid memory, addresses and keys, and the guarantees of deregistration. */
@Timeout(30)
class MemoryRegistrationTest {
    /** The largest page of Linux. The offsets of memory and chosen address in their pages must be equal. */
    private static final int PAGE_BYTES = 65_536;

    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void open() {
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        DirectConnections.connect(a, b);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void refused(MemorySegment memory, String because, AccessFlag... access) {
        assertThatThrownBy(() -> a.domain.register(memory, access)).isInstanceOfSatisfying(RdmaException.class, e -> {
            assertThat(e.errno()).isEqualTo(Errno.EINVAL);
            assertThat(e).hasMessageContaining(because);
        });
    }

    @Test
    void memoryThatIsNotAccessibleIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            refused(arena.allocate(64), "confined to one thread");
        }
    }

    @Test
    void readOnlyMemoryCannotBeRegisteredForWriting() {
        MemorySegment readOnly = Arena.ofAuto().allocate(64).asReadOnly();
        refused(readOnly, "read-only", AccessFlag.LOCAL_WRITE);
        a.domain.register(readOnly, AccessFlag.REMOTE_READ).close();
    }

    @Test
    void remoteWriteRightsRequireLocalWrite() {
        assertRefused(
                Errno.EINVAL,
                "need local write",
                () -> a.domain.register(Arena.ofAuto().allocate(64), AccessFlag.REMOTE_WRITE));
    }

    @Test
    void aRegionHasTheAddressThatTheProgramChooses() {
        TestDevices.require(Capability.CHOSEN_ADDRESSES);
        MemorySegment memory = Arena.ofAuto().allocate(8192, PAGE_BYTES);
        long address = 0x1234_5678_0000L;
        try (MemoryRegion region = b.domain.register(memory, address, TestEndpoint.ALL)) {
            assertThat(region.address()).isEqualTo(address);
            a.memory.set(JAVA_LONG, 0, 42);
            a.queuePair.postWrite(1, a.region, 0, 8, new RemoteMemory(address + 4096, region.remoteKey(), 8));
            assertThat(a.completion().isSuccess()).isTrue();
            assertThat(memory.get(JAVA_LONG, 4096)).isEqualTo(42);
            a.queuePair.postRead(2, a.region, 8, 8, new RemoteMemory(address + 4096, region.remoteKey(), 8));
            assertThat(a.completion().isSuccess()).isTrue();
            assertThat(a.memory.get(JAVA_LONG, 8)).isEqualTo(42);
            b.queuePair.postWrite(3, region, 4096, 8, a.region.remote().slice(16, 8)); // as local memory
            assertThat(b.completion().isSuccess()).isTrue();
            assertThat(a.memory.get(JAVA_LONG, 16)).isEqualTo(42);
            a.queuePair.postWrite(4, a.region, 0, 8, new RemoteMemory(address + 8192, region.remoteKey(), 8));
            assertThat(a.completion().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void twoRegionsMayHaveTheSameAddress() {
        TestDevices.require(Capability.CHOSEN_ADDRESSES);
        MemorySegment memory = Arena.ofAuto().allocate(2 * PAGE_BYTES, PAGE_BYTES);
        long address = 0x4000_0000L;
        try (MemoryRegion first = b.domain.register(memory.asSlice(0, 64), address, TestEndpoint.ALL);
                MemoryRegion second = b.domain.register(memory.asSlice(PAGE_BYTES, 64), address, TestEndpoint.ALL)) {
            a.memory.set(JAVA_LONG, 0, 42);
            a.queuePair.postWrite(1, a.region, 0, 8, second.remote());
            assertThat(a.completion().isSuccess()).isTrue();
            assertThat(memory.get(JAVA_LONG, 0)).isZero();
            assertThat(memory.get(JAVA_LONG, PAGE_BYTES)).isEqualTo(42);
            assertThat(first.remoteKey()).isNotEqualTo(second.remoteKey());
        }
    }

    @Test
    void memoryIsPagedOnDemandWhereTheDeviceHasIt() {
        Set<AccessFlag> access = EnumSet.copyOf(TestEndpoint.ALL);
        access.add(AccessFlag.ON_DEMAND);
        MemorySegment memory = Arena.ofAuto().allocate(1 << 20, 4096);
        if (!b.context.attributes().hasOnDemandPaging()) {
            assertThatThrownBy(() -> b.domain.register(memory, access))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
            return;
        }
        try (MemoryRegion region = b.domain.register(memory, access)) {
            assertThat(region.access()).isEqualTo(access);
            a.memory.set(JAVA_LONG, 0, 42);
            a.queuePair.postWrite(1, a.region, 0, 8, region.remote().slice(1 << 19, 8));
            assertThat(a.completion().isSuccess()).isTrue();
            assertThat(memory.get(JAVA_LONG, 1 << 19)).isEqualTo(42);
        }
    }

    @Test
    void everyDeviceTakesRelaxedOrdering() {
        Set<AccessFlag> access = EnumSet.copyOf(TestEndpoint.ALL);
        access.add(AccessFlag.RELAXED_ORDERING);
        MemorySegment memory = Arena.ofAuto().allocate(4096, 4096);
        try (MemoryRegion region = b.domain.register(memory, access)) {
            a.memory.set(JAVA_LONG, 0, 42);
            a.queuePair.postWrite(1, a.region, 0, 8, region.remote());
            assertThat(a.completion().isSuccess()).isTrue();
            assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(42);
        }
    }

    @Test
    void deregisteredMemoryIsInaccessibleToThePeer() {
        MemoryRegion deregistered = b.domain.register(Arena.ofAuto().allocate(64), TestEndpoint.ALL);
        deregistered.close();
        a.queuePair.postWrite(1, a.region, 0, 8, deregistered.remote());
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void workRequestWithDeregisteredMemoryIsALocalProtectionError() {
        MemoryRegion deregistered = a.domain.register(Arena.ofAuto().allocate(64), TestEndpoint.ALL);
        deregistered.close();
        a.queuePair.postWrite(1, deregistered, 0, 8, b.region.remote());
        if (TestDevices.driver() == Driver.RXE) { // of Linux 6.12, it flushes also the request that has failed
            assertThat(a.completion().status())
                    .isIn(
                            CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                            CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        } else {
            assertThat(a.completion().status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    @Test
    void memoryWhoseArenaIsClosedFailsItsQueuePairOnly() {
        TestEndpoint c = new TestEndpoint(a.address);
        try (c) {
            Arena arena = Arena.ofShared();
            MemoryRegion region = a.domain.register(arena.allocate(64), TestEndpoint.ALL);
            if (!isClosed(arena)) {
                region.close(); // nothing can go wrong: the device keeps the memory until it is deregistered
                arena.close();
                return;
            }
            a.queuePair.postWrite(1, region, 0, 8, b.region.remote());
            assertThat(a.completion().isSuccess()).isFalse();
            b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            DirectConnections.connect(c, b);
            c.queuePair.postWrite(2, c.region, 0, 8, b.region.remote());
            assertThat(c.completion().isSuccess()).isTrue();
        }
    }

    /** Returns false if a device holds the arena because memory of it is registered. */
    private static boolean isClosed(Arena arena) {
        try {
            arena.close();
            return true;
        } catch (IllegalStateException held) {
            return false;
        }
    }

    @Test
    void receiveIntoMemoryWhoseArenaIsClosedFails() {
        Arena arena = Arena.ofShared();
        MemoryRegion region = b.domain.register(arena.allocate(64), TestEndpoint.ALL);
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(region));
        if (!isClosed(arena)) {
            region.close();
            arena.close();
        }
        a.queuePair.postSend(new SendWorkRequest().reset(2).from(a.region, 0, 8));
        assertThat(b.completion().isSuccess()).isFalse();
    }

    private static ScatterGatherList whole(MemoryRegion region) {
        ScatterGatherList list = new ScatterGatherList();
        list.add(region, 0, region.lengthBytes());
        return list;
    }

    private void adviceIsRefused(Errno errno, MemoryAdvice advice, MemoryRegion region) {
        assertThatThrownBy(() -> a.domain.advise(advice, whole(region), true))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        e -> assertThat(e.errno())
                                .isEqualTo(a.context.attributes().hasOnDemandPaging() ? errno : Errno.EOPNOTSUPP));
    }

    @Test
    void adviceIsAcceptedForMemoryOnDemand() {
        if (!a.context.attributes().hasOnDemandPaging()) {
            adviceIsRefused(Errno.EOPNOTSUPP, MemoryAdvice.PREFETCH, a.region);
            return;
        }
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(3 * PAGE_BYTES, PAGE_BYTES);
            try (MemoryRegion region = a.domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND)) {
                for (MemoryAdvice advice : MemoryAdvice.values()) {
                    a.domain.advise(advice, whole(region), true);
                    a.domain.advise(advice, whole(region), false);
                }
            }
        }
    }

    @Test
    void adviceForOtherMemoryIsRefused() {
        adviceIsRefused(Errno.EINVAL, MemoryAdvice.PREFETCH, a.region);
        if (a.context.attributes().hasOnDemandPaging()) {
            try (Arena arena = Arena.ofShared();
                    MemoryRegion readable =
                            a.domain.register(arena.allocate(PAGE_BYTES, PAGE_BYTES), AccessFlag.ON_DEMAND);
                    MemoryRegion other =
                            b.domain.register(arena.allocate(PAGE_BYTES, PAGE_BYTES), AccessFlag.ON_DEMAND)) {
                adviceIsRefused(Errno.EPERM, MemoryAdvice.PREFETCH_WRITE, readable);
                adviceIsRefused(Errno.EINVAL, MemoryAdvice.PREFETCH, other);
                a.domain.advise(MemoryAdvice.PREFETCH, whole(readable), true);
            }
        }
    }
}
