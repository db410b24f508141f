package io.rdma4j.soft.process;

import io.rdma4j.cm.host.ExitTasks;
import io.rdma4j.soft.SoftStack;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The stack of this process, which {@link java.util.ServiceLoader}'s providers share. It takes its options from system
 * properties and environment variables, and lives as long as the process. Thread safe.
 */
public final class ProcessStack {
    private static @Nullable SoftStack stack;

    private ProcessStack() {}

    /** Returns the stack of this process. The first call creates it, which opens nothing yet. */
    public static synchronized SoftStack stack() {
        SoftStack known = stack;
        if (known == null) {
            warmUp();
            known = SoftStack.create();
            finishAtExit(known);
            stack = known;
        }
        return known;
    }

    private static void warmUp() {
        long limitMillis = Long.getLong(SoftStack.WARM_UP_PROPERTY, 0);
        if (limitMillis > 0) {
            SoftStack.warmUp(Duration.ofMillis(limitMillis));
        }
    }

    /** Disconnects from all peers at the exit of the process, after its sockets have delivered what was written to them. */
    private static void finishAtExit(SoftStack created) {
        try {
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(
                            () -> {
                                try {
                                    ExitTasks.runTasks();
                                } finally {
                                    created.finish();
                                }
                            },
                            "rdma4j-finish"));
        } catch (IllegalStateException ending) {
            // The process is already exiting: no time is left to send anything.
            return;
        }
    }
}
