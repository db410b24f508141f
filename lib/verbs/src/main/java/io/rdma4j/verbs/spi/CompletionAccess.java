package io.rdma4j.verbs.spi;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the private fields of {@link WorkCompletion}, which programs only read. The initializer of
 * {@link WorkCompletion} provides it. {@link CompletionWriter} describes the methods. Not thread safe, like the
 * completions.
 */
public abstract class CompletionAccess {
    private static volatile @Nullable CompletionAccess provided;

    /** Creates the access. */
    protected CompletionAccess() {}

    /** Provides the access. {@link WorkCompletion} calls it once. */
    public static void provide(CompletionAccess access) {
        provided = access;
    }

    static CompletionAccess get() {
        try {
            var _ = MethodHandles.lookup().ensureInitialized(WorkCompletion.class);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e); // the class belongs to this module
        }
        return Objects.requireNonNull(provided);
    }

    /** See {@link CompletionWriter#start}. */
    protected abstract void start(
            WorkCompletion completion, long id, CompletionStatus status, CompletionOpcode opcode, int queuePairNumber);

    /** See {@link CompletionWriter#data}. */
    protected abstract void data(
            WorkCompletion completion,
            long byteLength,
            boolean hasImmediate,
            boolean hasInvalidatedKey,
            int immediateOrKey);

    /** See {@link CompletionWriter#source}. */
    protected abstract void source(
            WorkCompletion completion, int queuePairNumber, boolean hasGlobalRoute, int serviceLevel);

    /** See {@link CompletionWriter#timestamp}. */
    protected abstract void timestamp(WorkCompletion completion, long nanos);

    /** See {@link CompletionWriter#timestampOfFirstReading}. */
    protected abstract void timestampOfFirstReading(WorkCompletion completion, LongSupplier clock);
}
