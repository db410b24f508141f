package io.rdma4j.bench.jmh;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
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
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Polling and posting on a device of the machine, with a driver in C that only touches memory. It shows the overhead of
 * Java on a machine without a card. Calls of an empty function and the same operations by C are the comparison.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 25, time = 60, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class HardwareBenchmark {
    private static final int LOOP = 10_000;
    private static final int ENDLESS = 64;
    private static final FunctionDescriptor THREE_WORDS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle CALL = handle();
    private static final MethodHandle CRITICAL_CALL = handle(Linker.Option.critical(false));

    private final PollingDriver driver = new PollingDriver();
    private final MemorySegment nothing = driver.functions().findOrThrow("bench_nothing");
    private final MethodHandle pollInC = driver.loop("bench_poll");
    private final MethodHandle postInC = driver.loop("bench_post");
    private final DeviceContext context = driver.open();
    private final ProtectionDomain domain = context.createProtectionDomain();
    private final CompletionQueue empty = context.createCompletionQueue(1);
    private final CompletionQueue endless = context.createCompletionQueue(ENDLESS);
    private final CompletionQueue clocked = context.createCompletionQueue(
            CompletionQueueInitAttributes.of(ENDLESS).withDeviceClock(true));
    private final QueuePair queuePair = domain.createQueuePair(
            QueuePairInitAttributes.reliable(endless, new QueuePairCapabilities(64, 64, 2, 2, 0)));
    private final MemoryRegion region =
            domain.register(Frames.newMemory(4096), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private final WorkCompletion[] completions = WorkCompletion.array(1);
    private final SendWorkRequest write =
            SendWorkRequest.write(1, region, region.remote()).signaled();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest().reset(2).into(region, 0, 64);

    @SuppressWarnings("restricted")
    private static MethodHandle handle(Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(THREE_WORDS, options);
    }

    /** Checks that the two queues have the properties that the benchmarks need. */
    @Setup
    public void check() {
        if (empty.poll(completions) != 0 || endless.poll(completions) != 1 || !clocked.usesDeviceClock()) {
            throw new IllegalStateException("the device has another driver");
        }
    }

    /** Closes the device. */
    @TearDown
    public void close() {
        context.close();
    }

    /** An ordinary call of an empty function. */
    @Benchmark
    public long emptyFunction() throws Throwable {
        return (long) CALL.invokeExact(nothing, 1L, 2L, 3L);
    }

    /** A critical call of an empty function. */
    @Benchmark
    public long emptyFunctionCritical() throws Throwable {
        return (long) CRITICAL_CALL.invokeExact(nothing, 1L, 2L, 3L);
    }

    /** Polls a queue without completions. */
    @Benchmark
    public int pollNothing() {
        return empty.poll(completions);
    }

    /** Polls a queue that has one completion. */
    @Benchmark
    public long pollOne() {
        int count = endless.poll(completions);
        return count + completions[0].id();
    }

    /** Polls an extended queue that has one completion with a timestamp of the device. */
    @Benchmark
    public long pollOneOfDeviceClock() {
        int count = clocked.poll(completions);
        return count + completions[0].timestampNanos();
    }

    /** Posts one RDMA WRITE. */
    @Benchmark
    public void postSend() {
        queuePair.postSend(write);
    }

    /** Posts one receive. */
    @Benchmark
    public void postReceive() {
        queuePair.postReceive(receive);
    }

    /** Polls a queue without completions, in C. */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void pollNothingInC() throws Throwable {
        pollInC.invokeExact(1, LOOP);
    }

    /** Polls a queue that has one completion, in C. */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void pollOneInC() throws Throwable {
        pollInC.invokeExact(ENDLESS, LOOP);
    }

    /** Posts one RDMA WRITE, in C. */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void postSendInC() throws Throwable {
        postInC.invokeExact(1, LOOP);
    }

    /** Posts one receive, in C. */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void postReceiveInC() throws Throwable {
        postInC.invokeExact(0, LOOP);
    }
}
