package io.rdma4j.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryChangeTest {
    private static final int MTU = 2;

    /** Changes 0 0 0 0 0 0 to 0 1 1 1 1 0, then to 0 1 2 2 1 0 atomically. */
    private static final List<MemoryChange> CHANGES = List.of(
            new MemoryChange(1, new byte[4], new byte[] {1, 1, 1, 1}, false),
            new MemoryChange(2, new byte[] {1, 1}, new byte[] {2, 2}, true));

    private static final byte[] LAST = {0, 1, 2, 2, 1, 0};

    private static boolean isExplained(int least, int... memory) {
        byte[] bytes = new byte[memory.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) memory[i];
        }
        return MemoryChange.explain(bytes, LAST, CHANGES, least, MTU) == null;
    }

    @Test
    void memoryMatchesSomeOfTheChangesInTheirOrder() {
        assertThat(isExplained(0, 0, 1, 2, 2, 1, 0)).isTrue();
        assertThat(isExplained(0, 0, 1, 1, 1, 1, 0)).isTrue();
        assertThat(isExplained(0, 0, 0, 0, 0, 0, 0)).isTrue();
        assertThat(isExplained(0, 0, 0, 2, 2, 0, 0)).isFalse();
        assertThat(isExplained(0, 0, 1, 1, 1, 1, 7)).isFalse();
    }

    @Test
    void lastChangeMayBePartialByWholePackets() {
        assertThat(isExplained(0, 0, 1, 1, 0, 0, 0)).isTrue();
        assertThat(isExplained(0, 0, 1, 1, 1, 0, 0)).isFalse();
        assertThat(isExplained(0, 0, 0, 0, 1, 1, 0)).isFalse();
        assertThat(isExplained(0, 0, 1, 2, 1, 1, 0)).isFalse();
    }

    @Test
    void allReportedChangesArePresent() {
        assertThat(isExplained(2, 0, 1, 2, 2, 1, 0)).isTrue();
        assertThat(isExplained(2, 0, 1, 1, 1, 1, 0)).isFalse();
        assertThat(isExplained(1, 0, 1, 1, 1, 1, 0)).isTrue();
        assertThat(isExplained(1, 0, 1, 1, 0, 0, 0)).isFalse();
    }
}
