package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A key finds its memory while it is registered, also during concurrent changes of the table. */
@Timeout(60)
class MemoryTableTest {
    private static final MemorySegment MEMORY = MemorySegment.ofArray(new byte[16]);

    private final Random random = new Random(7);
    private final MemoryTable table = new MemoryTable(random::nextInt);

    private MemoryRegion register() {
        return table.register(MEMORY, 0, AccessFlag.LOCAL_WRITE.bit(), 1);
    }

    @Test
    void registeredRegionsAreFoundAndDeregisteredOnesAreNot() {
        List<MemoryRegion> present = new ArrayList<>();
        List<MemoryRegion> removed = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(100) < 52 || present.isEmpty()) {
                present.add(register());
            } else {
                MemoryRegion region = present.remove(random.nextInt(present.size()));
                assertThat(table.deregister(region)).isTrue();
                assertThat(table.deregister(region)).isTrue();
                removed.add(region);
            }
            assertThat(table.size()).isEqualTo(present.size());
            MemoryRegion sample = present.isEmpty() ? null : present.get(random.nextInt(present.size()));
            if (sample != null) {
                assertThat(table.find(sample.key())).isSameAs(sample);
            }
        }
        for (MemoryRegion region : present) {
            assertThat(table.find(region.key())).isSameAs(region);
        }
        for (MemoryRegion region : removed) {
            assertThat(region.isValid()).isFalse();
            assertThat(table.find(region.key())).isNotSameAs(region);
        }
    }

    @Test
    void keyZeroIsUnusedAfterRemovals() {
        for (int i = 0; i < 100; i++) {
            assertThat(table.deregister(register())).isTrue();
        }
        assertThat(table.find(0)).isNull();
    }

    @Test
    void churnWithoutGrowthDoesNotEnlargeTheTable() {
        List<MemoryRegion> kept = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            kept.add(register());
        }
        for (int i = 0; i < 100_000; i++) {
            assertThat(table.deregister(register())).isTrue();
        }
        assertThat(table.ring()).isLessThanOrEqualTo(64);
        for (MemoryRegion region : kept) {
            assertThat(table.find(region.key())).isSameAs(region);
        }
    }

    @Test
    void lookupsWithoutALockSucceedDuringConcurrentChanges() throws InterruptedException {
        MemoryRegion[] steady = new MemoryRegion[50];
        for (int i = 0; i < steady.length; i++) {
            steady[i] = register();
        }
        AtomicBoolean done = new AtomicBoolean();
        AtomicLong missed = new AtomicLong();
        AtomicLong lookups = new AtomicLong();
        Thread reader = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                for (MemoryRegion region : steady) {
                    if (table.find(region.key()) != region) {
                        missed.incrementAndGet();
                    }
                }
                lookups.incrementAndGet();
            }
        });
        List<MemoryRegion> others = new ArrayList<>();
        for (int i = 0; i < 200_000 || lookups.get() < 100; i++) {
            others.add(register());
            if (others.size() > 200) {
                assertThat(table.deregister(others.remove(random.nextInt(200)))).isTrue();
            }
        }
        done.set(true);
        reader.join();
        assertThat(missed).hasValue(0);
    }

    @Test
    void changedMemoryKeepsItsKeyAndMovedMemoryDoesNot() {
        MemoryRegion original = register();
        MemoryRegion changed = Objects.requireNonNull(table.change(original, AccessFlag.REMOTE_READ.bit(), 2));
        assertThat(table.find(original.key())).isSameAs(changed);
        assertThat(original.latest()).isSameAs(changed);
        assertThat(changed.latest()).isSameAs(changed);
        MemoryRegion again = Objects.requireNonNull(table.change(original, AccessFlag.REMOTE_READ.bit(), 3));
        assertThat(table.find(original.key())).isSameAs(again);
        assertThat(changed.latest()).isSameAs(again);
        assertThat(again.memory()).isSameAs(MEMORY);
        assertThat(again.allows(AccessFlag.LOCAL_WRITE.bit())).isFalse();
        assertThat(again.protectionDomain()).isEqualTo(3);
        assertThat(table.size()).isEqualTo(1);
        MemoryRegion moved = Objects.requireNonNull(table.move(original, MEMORY, 8, AccessFlag.LOCAL_WRITE.bit(), 1));
        assertThat(moved.key()).isNotEqualTo(original.key());
        assertThat(table.find(original.key())).isNull();
        assertThat(original.latest().isValid()).isFalse();
        assertThat(table.size()).isEqualTo(1);
        assertThatThrownBy(() -> table.change(again, 0, 1)).hasMessage("the memory is not registered");
        assertThatThrownBy(() -> table.move(again, MEMORY, 0, 0, 1)).hasMessage("the memory is not registered");
        assertThatThrownBy(() -> table.change(moved, AccessFlag.REMOTE_WRITE.bit(), 1))
                .hasMessage("remote write and remote atomic need local write");
        assertThatThrownBy(() -> table.move(moved, MEMORY, -8, 0, 1)).hasMessageContaining("wrap around");
        assertThat(table.find(moved.key())).isSameAs(moved);
        assertThat(table.deregister(moved)).isTrue();
        assertThat(table.size()).isZero();
    }

    /** Domain 1 has one set of rights, domain 2 another one: a reader never sees the rights of one in the other. */
    @Test
    void lookupsDuringAChangeFindTheOldOrTheNewRegistration() throws InterruptedException {
        MemoryRegion original = register();
        AtomicBoolean done = new AtomicBoolean();
        AtomicLong lookups = new AtomicLong();
        AtomicLong mixtures = new AtomicLong();
        Thread reader = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                MemoryRegion found = table.find(original.key());
                MemoryRegion latest = original.latest();
                if (found == null || isMixture(found) || isMixture(latest)) {
                    mixtures.incrementAndGet();
                }
                lookups.incrementAndGet();
            }
        });
        for (int i = 0; i < 200_000 || lookups.get() < 1000; i++) {
            boolean isEven = (i & 1) == 0;
            MemoryRegion _ = table.change(
                    original, isEven ? AccessFlag.REMOTE_READ.bit() : AccessFlag.LOCAL_WRITE.bit(), isEven ? 2 : 1);
            if (i % 100 == 0) { // enlarges and cleans the table meanwhile
                assertThat(table.deregister(register())).isTrue();
            }
        }
        done.set(true);
        reader.join();
        assertThat(mixtures).hasValue(0);
        assertThat(table.size()).isEqualTo(1);
    }

    private static boolean isMixture(MemoryRegion region) {
        int access = region.protectionDomain() == 1 ? AccessFlag.LOCAL_WRITE.bit() : AccessFlag.REMOTE_READ.bit();
        return !region.isValid() || region.access() != access;
    }
}
