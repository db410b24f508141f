package io.rdma4j.tools.cmtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class StepCountsTest {
    private final StepCounts<Step> counts = new StepCounts<>(Step.class);

    /** Otherwise the process may exit before the reason is printed. */
    @Test
    void theRunHasFailedOnlyWhenTheReasonIsReported() throws InterruptedException {
        CountDownLatch reporting = new CountDownLatch(1);
        CountDownLatch printed = new CountDownLatch(1);
        Thread failing = Thread.ofPlatform().daemon().start(() -> counts.fail(() -> {
            reporting.countDown();
            try {
                printed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        reporting.await();
        assertThatCode(counts::throwIfFailed).doesNotThrowAnyException();
        printed.countDown();
        failing.join();
        assertThatThrownBy(counts::throwIfFailed).isInstanceOf(CmtimeFailure.class);
    }

    @Test
    void onlyTheFirstFailureIsReported() {
        List<String> reported = Collections.synchronizedList(new ArrayList<>());
        counts.fail(() -> reported.add("first"));
        counts.fail(() -> reported.add("second"));
        assertThat(reported).containsExactly("first");
    }
}
