package io.rdma4j.tools.cmtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class StepCountsTest {
    private final StepCounts<Step> counts = new StepCounts<>(Step.class);

    private final CountDownLatch reporting = new CountDownLatch(1);
    private final CountDownLatch mayPrint = new CountDownLatch(1);
    private final List<String> reported = Collections.synchronizedList(new ArrayList<>());

    /** Fails the run in another thread. The report waits for {@link #mayPrint}. */
    private Thread failSlowly() throws InterruptedException {
        Thread failing = Thread.ofPlatform()
                .daemon()
                .start(() -> counts.fail(() -> {
                    reporting.countDown();
                    try {
                        mayPrint.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    reported.add("first");
                }));
        reporting.await();
        return failing;
    }

    /** Otherwise the process may exit before the reason is printed. */
    @Test
    void theRunHasFailedOnlyWhenTheReasonIsReported() throws InterruptedException {
        Thread failing = failSlowly();
        assertThatCode(counts::throwIfFailed).doesNotThrowAnyException();
        mayPrint.countDown();
        failing.join();
        assertThatThrownBy(counts::throwIfFailed).isInstanceOf(CmtimeFailure.class);
    }

    @Test
    void aSecondFailureWaitsForTheReportOfTheFirst() throws InterruptedException {
        failSlowly();
        Thread.ofPlatform().daemon().start(() -> {
            LockSupport.parkNanos(50_000_000);
            mayPrint.countDown();
        });
        counts.fail(() -> reported.add("second"));
        List<String> afterwards = List.copyOf(reported);
        assertThat(afterwards).containsExactly("first");
    }

    @Test
    void onlyTheFirstFailureIsReported() {
        counts.fail(() -> reported.add("first"));
        counts.fail(() -> reported.add("second"));
        assertThat(reported).containsExactly("first");
    }
}
