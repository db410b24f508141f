package io.rdma4j.bench.jmh;

import io.rdma4j.transport.Completion;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
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

/** The ring of a completion queue. The class is not public, so the benchmark accesses it by private lookup. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class CompletionBenchmark {
    private static final int ENTRIES = 256;
    private static final int BATCH = 64;
    private static final MethodHandle NEW_RING;
    private static final MethodHandle ADD;
    private static final MethodHandle POLL;

    static {
        try {
            Class<?> type = Class.forName("io.rdma4j.soft.device.CompletionRing");
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
            NEW_RING = lookup.findConstructor(type, MethodType.methodType(void.class, int.class))
                    .asType(MethodType.methodType(Object.class, int.class));
            ADD = lookup.findVirtual(type, "add", MethodType.methodType(boolean.class, Completion.class, long.class))
                    .asType(MethodType.methodType(boolean.class, Object.class, Completion.class, long.class));
            POLL = lookup.findVirtual(type, "poll", MethodType.methodType(int.class, WorkCompletion[].class))
                    .asType(MethodType.methodType(int.class, Object.class, WorkCompletion[].class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Object ring;
    private final Completion completion = new Completion();
    private final WorkCompletion[] taken = WorkCompletion.array(BATCH);

    /** Creates an empty ring. */
    public CompletionBenchmark() {
        try {
            ring = (Object) NEW_RING.invokeExact(ENTRIES);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Polls the empty ring. */
    @Benchmark
    public int takeNothing() throws Throwable {
        return (int) POLL.invokeExact(ring, taken);
    }

    /** Adds and removes one completion. */
    @Benchmark
    public int addAndTake() throws Throwable {
        boolean _ = (boolean) ADD.invokeExact(ring, completion, 1L);
        return (int) POLL.invokeExact(ring, taken);
    }

    /** Adds 64 completions, and removes them together. */
    @Benchmark
    public int addAndTake64() throws Throwable {
        for (int i = 0; i < BATCH; i++) {
            boolean _ = (boolean) ADD.invokeExact(ring, completion, 1L);
        }
        return (int) POLL.invokeExact(ring, taken);
    }
}
