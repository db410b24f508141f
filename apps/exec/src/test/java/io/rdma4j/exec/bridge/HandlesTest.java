package io.rdma4j.exec.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests {@link Handles}. */
class HandlesTest {
    @Test
    void anObjectIsFoundUntilItIsRemoved() {
        int handle = Handles.add("one");
        assertThat(handle).isPositive();
        assertThat(Handles.of(handle, String.class)).isEqualTo("one");
        Handles.remove(handle);
        assertThat(Handles.find(handle)).isNull();
        Handles.remove(handle);
    }

    @Test
    void aWrongHandleOrTypeIsAnInvalidArgument() {
        int handle = Handles.add("one");
        for (int wrong : new int[] {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, handle + 100_000}) {
            assertThat(Handles.find(wrong)).isNull();
        }
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> Handles.of(handle, Integer.class))
                .matches(refused -> refused.errno() == Errno.EINVAL);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> Handles.of(0, String.class));
        Handles.remove(handle);
    }

    @Test
    void handlesAreReused() {
        Set<Integer> handles = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            int handle = Handles.add("each");
            handles.add(handle);
            Handles.remove(handle);
        }
        assertThat(handles).hasSizeLessThan(1000);
    }

    @Test
    void manyObjectsHaveDifferentHandles() {
        List<Integer> handles = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            handles.add(Handles.add(i));
        }
        assertThat(new HashSet<>(handles)).hasSize(5000);
        for (int i = 0; i < 5000; i++) {
            assertThat(Handles.of(handles.get(i), Integer.class)).isEqualTo(i);
        }
        handles.forEach(Handles::remove);
    }

    @Test
    void threadsAddAndRemoveAtTheSameTime() throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < 4; t++) {
            Object mark = "thread " + t;
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 20_000; i++) {
                    int handle = Handles.add(mark);
                    assertThat(Handles.find(handle)).isSameAs(mark);
                    Handles.remove(handle);
                }
            });
            thread.setUncaughtExceptionHandler((_, failure) -> failures.add(failure));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }
}
