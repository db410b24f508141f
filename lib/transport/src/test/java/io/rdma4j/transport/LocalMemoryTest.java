package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Local memory is accessed only within its region and its rights; each element of a list is checked. */
class LocalMemoryTest {
    private static final int DOMAIN = Pair.PD;
    private static final int ELEMENT_BYTES = 100;
    private static final int ELEMENTS = 3;

    /** A defect of a list element. */
    enum Defect {
        ANOTHER_DOMAIN,
        DEREGISTERED,
        NO_RIGHT_TO_WRITE,
        ENDS_AFTER_ITS_REGION
    }

    private final MemoryTable table = new MemoryTable(new Random(1)::nextInt);
    private final byte[] memory = new byte[ELEMENTS * ELEMENT_BYTES];

    private MemoryRegion region(int access, int domain) {
        return table.register(MemorySegment.ofArray(new byte[ELEMENT_BYTES]), 0x1000, access, domain);
    }

    /** Returns a list of three elements, of which the one at {@code index} has a defect. */
    private ScatterGather list(int index, Defect defect) {
        ScatterGather list = new ScatterGather(ELEMENTS);
        for (int i = 0; i < ELEMENTS; i++) {
            boolean isDefective = i == index;
            MemoryRegion region = region(
                    isDefective && defect == Defect.NO_RIGHT_TO_WRITE ? 0 : AccessFlag.LOCAL_WRITE.bit(),
                    isDefective && defect == Defect.ANOTHER_DOMAIN ? DOMAIN + 1 : DOMAIN);
            if (isDefective && defect == Defect.DEREGISTERED) {
                table.deregister(region);
            }
            list.add(region, isDefective && defect == Defect.ENDS_AFTER_ITS_REGION ? 1 : 0, ELEMENT_BYTES);
        }
        return list;
    }

    @ParameterizedTest
    @EnumSource
    void listIsUsableOnlyIfAllItsElementsAre(Defect defect) {
        for (int index = 0; index < ELEMENTS; index++) {
            ScatterGather list = list(index, defect);
            assertThat(LocalMemory.isUsable(list, DOMAIN, AccessFlag.LOCAL_WRITE.bit()))
                    .as("element %d", index)
                    .isFalse();
        }
        assertThat(LocalMemory.isUsable(list(-1, defect), DOMAIN, AccessFlag.LOCAL_WRITE.bit()))
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void invalidElementIsNotWritten(Defect defect) {
        MemorySegment packet = MemorySegment.ofArray(memory).fill((byte) 9);
        for (int index = 0; index < ELEMENTS; index++) {
            ScatterGather list = list(index, defect);
            assertThat(LocalMemory.scatter(list, DOMAIN, 0, packet, 0, memory.length))
                    .as("element %d", index)
                    .isFalse();
            MemoryRegion region = Objects.requireNonNull(list.regions[index]);
            assertThat(region.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NO_RIGHT_TO_WRITE")
    void invalidElementIsNotRead(Defect defect) {
        for (int index = 0; index < ELEMENTS; index++) {
            ScatterGather list = list(index, defect);
            MemoryRegion region = Objects.requireNonNull(list.regions[index]);
            region.memory().fill((byte) 9);
            assertThat(LocalMemory.gather(list, DOMAIN, 0, memory.length, MemorySegment.ofArray(memory), 0))
                    .as("element %d", index)
                    .isFalse();
            assertThat(memory).containsOnly(0);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 100, true",
        "0, 101, false",
        "1, 99, true",
        "1, 100, false",
        "99, 1, true",
        "99, 2, false",
        "100, 0, true",
        "100, 1, false",
        "101, 0, false",
        "-1, 1, false",
        "0, -1, false",
        "9223372036854775807, 1, false",
        "1, 9223372036854775807, false",
        "0, 0, true"
    })
    void rangeOfARegionEndsAtItsLastByte(long offset, long length, boolean isInside) {
        MemoryRegion region = region(AccessFlag.LOCAL_WRITE.bit(), DOMAIN);
        assertThat(region.containsOffset(offset, length)).isEqualTo(isInside);
        assertThat(region.containsAddress(region.address() + offset, length)).isEqualTo(isInside);
    }

    /** The range is checked before the first response; copying alone would fail only at the last packet. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1024})
    void readThatExceedsItsRegionByOneByteReturnsNoData(int offset) {
        Pair p = new Pair();
        MemoryRegion from = p.b.register(4096);
        p.a.post(1, SendOpcode.RDMA_READ, p.a.register(4097), 4097 - offset, from, offset);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(p.traceLines()).last().asString().endsWith("62");
        assertThat(p.trace).filteredOn(w -> !w.fromA()).hasSize(1);
    }

    @Test
    void writeThatExceedsItsRegionByOneByteWritesNothing() {
        Pair p = new Pair();
        byte[] target = new byte[4096];
        MemoryRegion to = p.b.register(target, Pair.ALL_ACCESS);
        p.a.post(1, SendOpcode.RDMA_WRITE, p.a.register(Pair.pattern(4097, 1), Pair.ALL_ACCESS), 4097, to, 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(target).containsOnly(0);
    }
}
