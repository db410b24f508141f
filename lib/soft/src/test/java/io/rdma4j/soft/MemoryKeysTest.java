package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The addresses and keys that the device gives to memory regions. */
class MemoryKeysTest {
    @Test
    void addressesAndKeysAreUnpredictable() {
        try (TestEndpoint a = new TestEndpoint(TestAddresses.loopback())) {
            MemorySegment memory = Arena.ofAuto().allocate(64, 64).asSlice(8);
            Set<Long> pages = new HashSet<>();
            Set<Integer> keys = new HashSet<>();
            for (int i = 0; i < 100; i++) {
                try (MemoryRegion region = a.domain.register(memory)) {
                    assertThat(region.address() & 0xfff).isEqualTo(memory.address() & 0xfff);
                    assertThat(region.address()).isNotEqualTo(memory.address());
                    pages.add(region.address() >>> 40);
                    keys.add(region.remoteKey() >>> 20);
                }
            }
            assertThat(pages).hasSizeGreaterThan(90);
            assertThat(keys).hasSizeGreaterThan(90);
        }
    }
}
