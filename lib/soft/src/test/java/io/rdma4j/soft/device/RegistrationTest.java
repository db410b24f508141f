package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Addresses and flags of registrations that only the software device supports. */
class RegistrationTest {
    private final DeviceContext context =
            Device.of(InetAddress.getLoopbackAddress()).orElseThrow().open();
    private final ProtectionDomain domain = context.createProtectionDomain();

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void memoryOnTheHeapCanHaveAnyAddress() {
        MemorySegment memory = MemorySegment.ofArray(new byte[64]);
        for (long address : new long[] {0, 0x123, Long.MAX_VALUE, Long.MIN_VALUE, -65}) {
            try (MemoryRegion region = domain.register(memory, address, Set.of(AccessFlag.LOCAL_WRITE))) {
                assertThat(region.address()).isEqualTo(address);
                assertThat(region.remote().address()).isEqualTo(address);
            }
        }
    }

    @Test
    void addressesThatEndAboveTheHighestAreRefused() {
        refused(-64, Set.of(), "64 bytes at 0xffffffffffffffc0, []. The addresses of the region end at 2^64");
        refused(0x1000, Set.of(AccessFlag.ZERO_BASED), "ZERO_BASED chooses the address 0");
    }

    private void refused(long address, Set<AccessFlag> access, String because) {
        MemorySegment memory = MemorySegment.ofArray(new byte[64]);
        assertThatThrownBy(() -> domain.register(memory, address, access))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining(because);
    }

    @Test
    void everyOperationPagesOnDemand() {
        assertThat(context.attributes().hasOnDemandPaging()).isTrue();
        assertThat(context.attributes().onDemandOperations(QueuePairType.RELIABLE_CONNECTION))
                .containsExactlyInAnyOrder(OnDemandOperation.values());
        assertThat(context.attributes().onDemandOperations(QueuePairType.UNRELIABLE_CONNECTION))
                .doesNotContain(OnDemandOperation.READ, OnDemandOperation.ATOMIC)
                .contains(OnDemandOperation.WRITE);
        assertThat(context.attributes().onDemandOperations(QueuePairType.UNRELIABLE_DATAGRAM))
                .doesNotContain(OnDemandOperation.WRITE);
    }

    @Test
    void flagsWithoutEffectAreKept() {
        Set<AccessFlag> flags = Set.of(AccessFlag.ON_DEMAND, AccessFlag.HUGE_TLB, AccessFlag.RELAXED_ORDERING);
        try (MemoryRegion region = domain.register(MemorySegment.ofArray(new byte[64]), flags)) {
            assertThat(region.access()).isEqualTo(flags);
        }
    }
}
