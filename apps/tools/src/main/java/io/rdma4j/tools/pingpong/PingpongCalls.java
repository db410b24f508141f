package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The verbs calls of a ping-pong. A failed call prints C's line and an explanation on standard error, with exit status
 * 1.
 *
 * @param tool the name of the tool, for explanations
 * @param environment the environment with the output streams
 */
record PingpongCalls(String tool, ToolEnvironment environment) {
    /** The page size. C's tools write and check the first byte of each page. */
    static final int PAGE_BYTES = 4096;

    /** A verbs call. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /** Calls {@code call}. If it fails, prints {@code line}, which is C's, and the explanation. */
    <T extends @Nullable Object> T call(String line, Call<T> call) throws ToolFailure {
        return call((int errno) -> line, call);
    }

    /** Calls {@code call}, with a line that contains the errno if it fails. */
    <T extends @Nullable Object> T call(IntFunction<String> line, Call<T> call) throws ToolFailure {
        try {
            return call.run();
        } catch (RdmaException e) {
            throw failure(line.apply(e.errno().number()), e.getMessage());
        } catch (ArithmeticException e) {
            throw failure(line.apply(Errno.EINVAL.number()), e.getMessage());
        }
    }

    /** Calls {@code call}, which has no result, like {@link #call}. */
    void step(String line, Runnable call) throws ToolFailure {
        this.<@Nullable Void>call(line, () -> {
            call.run();
            return null;
        });
    }

    /** Allocates page-aligned memory for the messages. */
    MemorySegment allocate(Arena arena, long bytes) throws ToolFailure {
        try {
            return arena.allocate(Math.max(1, bytes), PAGE_BYTES).asSlice(0, bytes);
        } catch (OutOfMemoryError e) {
            throw failure("Couldn't allocate work buf.", e.getMessage() + "; use a smaller -s");
        }
    }

    /** Prints C's line and an explanation. */
    ToolFailure failure(String line, @Nullable String explanation) {
        ToolFailure failure = failure(line);
        environment.err().println(tool + ": " + Objects.requireNonNullElse(explanation, ""));
        return failure;
    }

    /** Prints C's line, which needs no explanation. */
    ToolFailure failure(String line) {
        environment.err().println(line);
        return new ToolFailure(1);
    }
}
