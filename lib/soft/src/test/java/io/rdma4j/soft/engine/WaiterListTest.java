package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.wait.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The list of waiting threads. */
class WaiterListTest {
    private final WaiterList list = new WaiterList();
    private final Waiter first = new Waiter();
    private final Waiter second = new Waiter();
    private final Waiter third = new Waiter();

    @Test
    void theNewestIsFirst() {
        assertThat(list.isEmpty()).isTrue();
        list.addFirst(first);
        list.addFirst(second);
        list.addFirst(third);
        assertThat(list.peekFirst()).isSameAs(third);
        list.remove(second);
        list.remove(second);
        assertThat(list.peekFirst()).isSameAs(third);
        list.remove(third);
        assertThat(list.peekFirst()).isSameAs(first);
        list.remove(first);
        assertThat(list.peekFirst()).isNull();
        assertThat(list.isEmpty()).isTrue();
    }

    @Test
    void threadsThatComeAndGoLeaveNothing() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(threads.submit(() -> {
                    Waiter own = new Waiter();
                    for (int round = 0; round < 50_000; round++) {
                        list.addFirst(own);
                        assertThat(list.isEmpty()).isFalse();
                        list.remove(own);
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertThat(list.isEmpty()).isTrue();
    }
}
