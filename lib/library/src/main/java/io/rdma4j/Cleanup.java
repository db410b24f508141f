package io.rdma4j;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the steps that close several objects. */
final class Cleanup {
    private Cleanup() {}

    /** Runs all steps even if some fail, then throws the first failure. */
    static void runAll(List<Runnable> steps) {
        Throwable failure = null;
        for (Runnable step : steps) {
            failure = run(step, failure);
        }
        switch (failure) {
            case null -> {}
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new IllegalStateException(failure);
        }
    }

    /** Runs a step because of a failure, which remains the reported one. */
    static void after(Throwable failure, Runnable step) {
        var _ = run(step, failure);
    }

    private static @Nullable Throwable run(Runnable step, @Nullable Throwable before) {
        try {
            step.run();
            return before;
        } catch (RuntimeException | Error failed) {
            if (before == null) {
                return failed;
            }
            if (!failed.equals(before)) {
                before.addSuppressed(failed);
            }
            return before;
        }
    }
}
