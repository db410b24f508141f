package io.rdma4j.testkit.junit;

import io.rdma4j.testkit.OpenObject;
import io.rdma4j.testkit.TestNetwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The objects and threads that a test has left. */
final class Leaks {
    /**
     * The maximum time that threads of the test may take to close their objects and to end, after the test's method.
     */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final long POLL_MILLIS = 5;
    private static final int MAX_CALLS = 12;

    private final TestNetwork network;
    private final ThreadWatch threads;
    private final List<String> found = new ArrayList<>();

    Leaks(TestNetwork network, ThreadWatch threads) {
        this.network = network;
        this.threads = threads;
    }

    /** Finds the objects that are open; in real time other threads may still close objects. */
    void findObjects() {
        long giveUp = System.nanoTime() + GRACE.toNanos();
        List<OpenObject> open = network.openObjects();
        while (!open.isEmpty() && !network.isInVirtualTime() && System.nanoTime() - giveUp < 0 && pause()) {
            open = network.openObjects();
        }
        open.forEach(each -> found.add(each.description() + " was left open" + made(each.creation())));
    }

    private static boolean pause() {
        try {
            Thread.sleep(POLL_MILLIS);
            return true;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Finds the threads that are still running; the network is closed. */
    void findThreads() {
        for (ThreadWatch.RunningThread each : threads.awaitEnd(GRACE)) {
            found.add("thread '" + each.thread().getName() + "' is still running" + made(each.creation()));
        }
    }

    private static String made(List<StackTraceElement> creation) {
        if (creation.isEmpty()) {
            return "; the place where it was created is unknown";
        }
        StringBuilder text = new StringBuilder(", created");
        creation.stream()
                .filter(call -> !isOfRunner(call))
                .limit(MAX_CALLS)
                .forEach(call -> text.append("\n\t\tat ").append(call));
        return text.toString();
    }

    private static boolean isOfRunner(StackTraceElement call) {
        String name = call.getClassName();
        return name.startsWith("org.junit.") || name.startsWith("java.") || name.startsWith("jdk.");
    }

    /** Returns the failure of a test that left something, or null. */
    @Nullable
    LeakError error() {
        return found.isEmpty()
                ? null
                : new LeakError("the test has left "
                        + (found.size() == 1 ? "an object or thread" : found.size() + " objects and threads") + ":\n\t"
                        + String.join("\n\t", found));
    }
}
