package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * How a ping-pong fails: C's line on standard error, behind it one that explains, and exit status 1.
 *
 * @param tool name for the explanations
 * @param environment where it prints
 */
record PingpongCalls(String tool, ToolEnvironment environment) {
    /** C's tools write and look at the first byte of each page. */
    static final int PAGE_BYTES = 4096;

    /** A call of the verbs. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /** Does a call; {@code line} is C's if it fails. */
    <T extends @Nullable Object> T call(String line, Call<T> call) throws PingpongFailure {
        return call((int errno) -> line, call);
    }

    /** The same with a line that tells the number of the error. */
    <T extends @Nullable Object> T call(IntFunction<String> line, Call<T> call) throws PingpongFailure {
        try {
            return call.run();
        } catch (RdmaException e) {
            throw failure(line.apply(e.errno().number()), e.getMessage());
        } catch (ArithmeticException e) {
            throw failure(line.apply(Errno.EINVAL.number()), e.getMessage());
        }
    }

    /** The same without a result. */
    void step(String line, Runnable call) throws PingpongFailure {
        this.<@Nullable Void>call(line, () -> {
            call.run();
            return null;
        });
    }

    /** Memory for the messages, which begins at a page. */
    MemorySegment allocate(Arena arena, long bytes) throws PingpongFailure {
        try {
            return arena.allocate(Math.max(1, bytes), PAGE_BYTES).asSlice(0, bytes);
        } catch (OutOfMemoryError e) {
            throw failure("Couldn't allocate work buf.", e.getMessage() + "; use a smaller -s");
        }
    }

    /** Prints C's line and an explanation. */
    PingpongFailure failure(String line, @Nullable String explanation) {
        PingpongFailure failure = failure(line);
        environment.err().println(tool + ": " + Objects.requireNonNullElse(explanation, ""));
        return failure;
    }

    /** Prints C's line, which says enough. */
    PingpongFailure failure(String line) {
        environment.err().println(line);
        return new PingpongFailure(1);
    }
}
