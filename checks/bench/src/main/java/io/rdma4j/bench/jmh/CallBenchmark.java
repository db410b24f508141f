package io.rdma4j.bench.jmh;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Calls from Java into C: of a trivial function, and of a system call that fails immediately. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class CallBenchmark {
    private static final int NO_DESCRIPTOR = -1;
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final Linker.Option CRITICAL = Linker.Option.critical(false);
    private static final FunctionDescriptor INT_TO_INT = FunctionDescriptor.of(JAVA_INT, JAVA_INT);
    private static final FunctionDescriptor RECV_TYPE =
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle ABS = handle("abs", INT_TO_INT);
    private static final MethodHandle CRITICAL_ABS = handle("abs", INT_TO_INT, CRITICAL);
    private static final MethodHandle RECV = handle("recv", RECV_TYPE, ERRNO);
    private static final MethodHandle CRITICAL_RECV = handle("recv", RECV_TYPE, ERRNO, CRITICAL);

    private final MemorySegment errno =
            Frames.newMemory((int) Linker.Option.captureStateLayout().byteSize());
    private final MemorySegment buffer = Frames.newMemory(64);
    private int value = -5;

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }

    /** An ordinary call. */
    @Benchmark
    public int call() throws Throwable {
        return (int) ABS.invokeExact(value);
    }

    /** A critical call, without the thread state transition that allows a garbage collection during the call. */
    @Benchmark
    public int criticalCall() throws Throwable {
        return (int) CRITICAL_ABS.invokeExact(value);
    }

    /** A system call that fails, with its errno. */
    @Benchmark
    public long systemCall() throws Throwable {
        return (long) RECV.invokeExact(errno, NO_DESCRIPTOR, buffer, 64L, 0);
    }

    /** The same system call as a critical call. */
    @Benchmark
    public long criticalSystemCall() throws Throwable {
        return (long) CRITICAL_RECV.invokeExact(errno, NO_DESCRIPTOR, buffer, 64L, 0);
    }
}
