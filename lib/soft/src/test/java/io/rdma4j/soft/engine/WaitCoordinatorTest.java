package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.LinkSet;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.verbs.wait.Waiter;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A blocked leader is woken for deadlines before the one that it has published, and for no others. Waits end when their
 * condition holds.
 */
class WaitCoordinatorTest {
    private static final long UNTIL_NANOS = 10_000_000_000L;

    private final List<String> calls = new ArrayList<>();
    private final LinkSet links = (LinkSet)
            Proxy.newProxyInstance(LinkSet.class.getClassLoader(), new Class<?>[] {LinkSet.class}, (_, method, _) -> {
                calls.add(method.getName());
                return null;
            });

    /** Its background thread is not started: only the test leads. */
    private final WaitCoordinator waitCoordinator =
            new WaitCoordinator(StackAccess.devices(ProcessStack.stack()).engine(), links, "progress-test");

    private List<String> callsFor(long deadlineNanos) {
        calls.clear();
        waitCoordinator.noteDeadline(deadlineNanos);
        return List.copyOf(calls);
    }

    @Test
    void blockedLeaderIsWokenForEveryEarlierDeadline() {
        waitCoordinator.publishSleep(UNTIL_NANOS);
        assertThat(waitCoordinator.isLeaderAsleep()).isTrue();
        for (long earlierNanos = 1; earlierNanos < UNTIL_NANOS; earlierNanos *= 10) {
            assertThat(callsFor(UNTIL_NANOS - earlierNanos))
                    .as("%d ns earlier", earlierNanos)
                    .containsExactly("wakeup");
        }
    }

    @Test
    void blockedLeaderIsNotWokenForItsOwnDeadlineOrLaterOnes() {
        waitCoordinator.publishSleep(UNTIL_NANOS);
        assertThat(callsFor(UNTIL_NANOS)).isEmpty();
        assertThat(callsFor(UNTIL_NANOS + 1)).isEmpty();
        assertThat(callsFor(Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void noThreadIsWokenWhileNoneIsBlocked() {
        assertThat(waitCoordinator.isLeaderAsleep()).isFalse();
        assertThat(callsFor(0)).isEmpty();
    }

    /**
     * Another thread may take the object of a wait, for example an event that is removed with its identifier. The
     * waiting thread must then wait again. Otherwise it would report that it was interrupted.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void conditionThatHeldOnlyBrieflyEndsTheWaitAsOneThatHolds(boolean yields) {
        AtomicInteger checks = new AtomicInteger();
        BooleanSupplier second = () -> checks.incrementAndGet() == 2;
        assertThat(waitCoordinator.await(new Waiter(yields), second, Long.MAX_VALUE))
                .isTrue();
    }

    @Test
    void conditionThatHeldOnlyBrieflyEndsTheWaitOfAVirtualThread() throws InterruptedException {
        AtomicInteger checks = new AtomicInteger();
        BooleanSupplier second = () -> checks.incrementAndGet() == 2;
        AtomicBoolean held = new AtomicBoolean();
        Thread.ofVirtual()
                .start(() -> held.set(waitCoordinator.await(new Waiter(), second, Long.MAX_VALUE)))
                .join();
        assertThat(held).isTrue();
    }

    @Test
    void leaderThatBlocksWithoutDeadlineIsWokenForAnyDeadline() {
        waitCoordinator.publishSleep(Long.MAX_VALUE);
        assertThat(callsFor(Long.MAX_VALUE - 1)).containsExactly("wakeup");
        assertThat(callsFor(Long.MAX_VALUE)).isEmpty();
    }
}
