package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** An invalidated key is not soon assigned to other memory. */
class RetiredKeysTest {
    private static final MemorySegment MEMORY = MemorySegment.ofArray(new byte[16]);

    @Test
    void keyIsRememberedUntilAMillionOthersAreInvalidated() {
        RetiredKeys keys = new RetiredKeys();
        keys.add(0xabcd_ef01);
        for (int i = 0; i < RetiredKeys.MIN_REMEMBERED - 1; i++) {
            keys.add(i << 8);
            assertThat(keys.contains(0xabcd_ef01)).isTrue();
        }
        assertThat(keys.contains(0)).isTrue();
        for (int i = 0; i < RetiredKeys.MIN_REMEMBERED; i++) {
            keys.add(0x4000_0000 + (i << 8));
        }
        assertThat(keys.contains(0)).isTrue();
        keys.add(0x8000_0000);
        assertThat(keys.contains(0))
                .as("the oldest keys become available again")
                .isFalse();
    }

    @Test
    void keysThatShareTheUpperBitsOfARetiredKeyAreRetiredToo() {
        RetiredKeys keys = new RetiredKeys();
        keys.add(0x0102_0304);
        assertThat(keys.contains(0x0102_03ff)).isTrue();
        assertThat(keys.contains(0x0102_0404)).isFalse();
    }

    @Test
    void tableSkipsKeysOfDeregisteredRegionsAndDeallocatedWindows() {
        ArrayDeque<Integer> proposals = new ArrayDeque<>(List.of(0x100, 0x2000, 0x100, 0x1ff, 0x2000, 0x20ff, 0x3000));
        MemoryTable table = new MemoryTable(proposals::remove);
        MemoryRegion region = table.register(MEMORY, 0, AccessFlag.LOCAL_WRITE.bit(), 1);
        MemoryWindow window = table.allocateWindow(true, 1);
        assertThat(region.key()).isEqualTo(0x100);
        assertThat(window.key()).isEqualTo(0x2000);
        assertThat(table.deregister(region)).isTrue();
        table.deallocate(window);
        assertThat(table.register(MEMORY, 0, AccessFlag.LOCAL_WRITE.bit(), 1).key())
                .isEqualTo(0x3000);
    }

    @Test
    void manyKeysNeverRepeat() {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        System.out.println("seed " + seed);
        MemoryTable table = new MemoryTable(new Random(seed)::nextInt);
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            MemoryRegion region = table.register(MEMORY, 0, AccessFlag.LOCAL_WRITE.bit(), 1);
            assertThat(seen.add(region.key())).isTrue();
            assertThat(table.deregister(region)).isTrue();
        }
    }
}
