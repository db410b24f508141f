package io.rdma4j.sockets.io;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.io.MemoryPool.Block;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Blocks are reused without their content, and memory above a limit is freed. */
class MemoryPoolTest {
    private static final long SMALL = 1 << 10;
    private static final long LARGE = 2 << 20;

    private final MemoryPool pool = new MemoryPool(16 * SMALL);

    @Test
    void blockIsReusedAndFilledWithZeros() {
        Block first = pool.take(SMALL);
        first.memory().fill((byte) 7);
        long address = first.memory().address();
        pool.give(first);
        assertThat(pool.take(2 * SMALL).memory().address()).isNotEqualTo(address);
        MemorySegment again = pool.take(SMALL).memory();
        assertThat(again.address()).isEqualTo(address);
        assertThat(again.byteSize()).isEqualTo(SMALL);
        assertThat(again.toArray(JAVA_BYTE)).containsOnly(0);
        assertThat(pool.allocatedBytes()).isEqualTo(3 * SMALL);
    }

    @Test
    void unusedMemoryAboveTheLimitIsFreed() {
        List<Block> blocks = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            blocks.add(pool.take(SMALL));
        }
        Block kept = blocks.removeLast();
        blocks.forEach(pool::give);
        assertThat(pool.unusedBytes()).isLessThanOrEqualTo(16 * SMALL);
        assertThat(blocks).anyMatch(block -> !block.memory().scope().isAlive());
        assertThat(kept.memory().scope().isAlive()).isTrue();
        kept.memory().fill((byte) 1);
        pool.give(kept);
        assertThat(pool.allocatedBytes()).isEqualTo(pool.unusedBytes());
    }

    @Test
    void largeBlockIsFreedAlone() {
        Block small = pool.take(SMALL);
        Block large = pool.take(LARGE);
        pool.give(large);
        assertThat(large.memory().scope().isAlive()).isFalse();
        assertThat(small.memory().scope().isAlive()).isTrue();
        assertThat(pool.allocatedBytes()).isEqualTo(SMALL);
    }

    @Test
    void blockThatCannotBeAllocatedIsNotCounted() {
        assertThatThrownBy(() -> pool.take(Long.MAX_VALUE / 2)).isInstanceOfAny(Error.class, RuntimeException.class);
        assertThat(pool.allocatedBytes()).isZero();
        pool.give(pool.take(SMALL));
        assertThat(pool.unusedBytes()).isEqualTo(SMALL);
    }
}
