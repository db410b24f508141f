package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Java throws the same error twice when the heap is full, since it preallocates the error. */
class ReleasesTest {
    private final Error full = new InternalError("in place of an OutOfMemoryError, which ends JUnit");

    private final List<String> closed = new ArrayList<>();

    private void close(String name) {
        if (name.startsWith("failing")) {
            throw full;
        }
        closed.add(name);
    }

    @Test
    void sameErrorOfTwoStepsIsThrownAfterTheOthers() {
        Releases releases = new Releases();
        List.of("one", "failing", "two", "failing too", "three").forEach(name -> releases.add(() -> close(name)));
        assertThatThrownBy(releases::close).isSameAs(full);
        assertThat(closed).containsExactly("three", "two", "one");
    }

    @Test
    void sameErrorOfTwoObjectsIsThrownAfterTheOthers() {
        assertThatThrownBy(() -> Releases.closeAll(List.of("failing", "one", "failing too", "two"), this::close))
                .isSameAs(full);
        assertThat(closed).containsExactly("one", "two");
    }

    @Test
    void errorDuringTheReleaseLeavesTheOneBeforeItThePrimaryOne() {
        Releases releases = new Releases();
        releases.add(() -> close("one"));
        releases.add(() -> close("failing"));
        assertThat(releases.closeAfter(full)).isFalse();
        assertThat(closed).containsExactly("one");
    }
}
