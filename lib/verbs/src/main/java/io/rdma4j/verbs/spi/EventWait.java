package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Implements the calls that wait for an event and take it. {@link io.rdma4j.verbs} describes their outcomes. */
public final class EventWait {
    private EventWait() {}

    /**
     * Waits for an event and takes it.
     *
     * @param operation the C name of the call
     * @param source the object to wait for; {@code toString} describes it in messages
     * @param poll takes an event or returns null; throws {@link io.rdma4j.verbs.ClosedException} if the source is
     *     closed
     * @throws RdmaException {@code EINTR} if the thread is interrupted; its interrupt status stays set
     */
    public static <T> T take(String operation, Waitable source, Supplier<@Nullable T> poll) {
        return Objects.requireNonNull(
                EventWait.<T>takeUntil(operation, source, poll, source.waitDriver(), Long.MAX_VALUE));
    }

    /**
     * Waits for an event and takes it, like {@link #take(String, Waitable, Supplier)}, for at most {@code timeout}.
     *
     * @return the event, or null after the timeout
     */
    public static <T> @Nullable T take(
            String operation, Waitable source, Supplier<@Nullable T> poll, Duration timeout) {
        WaitDriver driver = source.waitDriver();
        return takeUntil(operation, source, poll, driver, driver.deadlineNanos(timeout));
    }

    private static <T> @Nullable T takeUntil(
            String operation,
            Waitable source,
            Supplier<@Nullable T> poll,
            WaitDriver firstDriver,
            long firstDeadlineNanos) {
        WaitDriver driver = firstDriver;
        long deadlineNanos = firstDeadlineNanos;
        T event = poll.get();
        boolean isInTime = true;
        while (event == null && isInTime) {
            WaitDriver before = driver;
            driver = source.waitDriver();
            if (deadlineNanos != Long.MAX_VALUE && !driver.equals(before)) { // another clock
                deadlineNanos = driver.nanoTime() + (deadlineNanos - before.nanoTime());
            }
            isInTime = source.signal().await(driver, source::isReady, deadlineNanos, source.yields());
            event = poll.get();
        }
        if (event == null
                && (deadlineNanos == Long.MAX_VALUE || Thread.currentThread().isInterrupted())) {
            throw new InterruptedRdmaException(operation, "the wait for " + source, "");
        }
        return event;
    }
}
