package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.memory.MemoryNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** The clock of a network without hosts. */
class VirtualClockTest {
    private final VirtualClock clock = new VirtualClock(new MemoryNetwork(1500), List::of);

    @Test
    void tasksRunInTheNextStepInTheirOrder() {
        List<String> ran = new ArrayList<>();
        clock.execute(() -> {
            ran.add("first");
            clock.execute(() -> ran.add("third"));
        });
        clock.execute(() -> ran.add("second"));
        assertThat(ran).isEmpty();
        clock.step(0);
        assertThat(ran).containsExactly("first", "second", "third");
    }

    @Test
    void aTaskMayStep() {
        clock.execute(() -> clock.step(0));
        clock.step(0);
        clock.step(0);
        assertThat(clock.nanoTime()).isPositive();
    }

    @Test
    void aSecondThreadIsRefused() {
        List<Throwable> refused = new ArrayList<>();
        clock.execute(() -> {
            try {
                CompletableFuture.runAsync(() -> clock.step(0)).join();
            } catch (CompletionException failed) {
                refused.add(failed.getCause());
            }
        });
        clock.step(0);
        assertThat(refused)
                .singleElement()
                .isInstanceOf(IllegalStateException.class)
                .asString()
                .contains("belongs to one thread at a time");
    }
}
