package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The state that all parts of a mesh run share: worker threads, device resources and the current test. Thread safe.
 */
final class MeshContext implements AutoCloseable {
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;

    final CmtimeOptions options;
    final MessageReport report;
    final StepCounts<Step> progress;
    final EventChannel channel;
    final InetSocketAddress source;
    private final ExecutorService workers;
    private final AtomicInteger nextNumber = new AtomicInteger();
    private volatile Round round = new Round(List.of());
    private volatile boolean simulates;
    private volatile int delayMicros;
    private @Nullable ProtectionDomain domain;
    private @Nullable CompletionQueue completions;

    MeshContext(
            CmtimeOptions options,
            MessageReport report,
            StepCounts<Step> progress,
            EventChannel channel,
            InetSocketAddress source) {
        this.options = options;
        this.report = report;
        this.progress = progress;
        this.channel = channel;
        this.source = source;
        workers = Executors.newFixedThreadPool(
                options.threads(),
                Thread.ofPlatform().daemon().name("cmtime-worker-", 0).factory());
    }

    Round round() {
        return round;
    }

    /** Starts the next test. */
    void round(Round next) {
        progress.reset();
        round = next;
    }

    /** Returns whether the current test uses queue pairs. */
    boolean hasQueuePairs() {
        return !simulates;
    }

    /** Replaces queue pairs by delays. */
    void simulate(int microsPerCall) {
        nextNumber.set(options.firstQueuePair());
        delayMicros = microsPerCall;
        simulates = true;
    }

    // ---- worker threads

    /** Runs an action on one of the worker threads. */
    void work(String what, Runnable action) {
        try {
            workers.execute(() -> attempt(what, action));
        } catch (RejectedExecutionException shuttingDown) {
            // The run has already failed.
            return;
        }
    }

    /** Runs an action. If the action fails, the whole run fails. */
    void attempt(String what, Runnable action) {
        try {
            action.run();
        } catch (RdmaException e) {
            progress.fail(() -> report.failure(what, e));
        } catch (RuntimeException e) {
            progress.fail(() -> report.explain(what + " failed unexpectedly: " + e));
        }
    }

    // ---- queue pairs

    /** Creates the device's protection domain and completion queue on first use. */
    private synchronized void openVerbs(CmId id) {
        if (domain == null) {
            report.line("\tAllocating verbs resources");
            domain = id.verbs().createProtectionDomain();
            completions = id.verbs().createCompletionQueue(1);
        }
    }

    private synchronized QueuePair newQueuePair(TimedConnection connection) {
        CompletionQueue both = Objects.requireNonNull(completions);
        return Objects.requireNonNull(domain)
                .createQueuePair(QueuePairInitAttributes.reliable(both, new QueuePairCapabilities(1, 1, 1, 1, 0))
                        .withSignalAll(true)
                        .withContext(connection));
    }

    /** Creates the queue pair of a connection, or simulates its creation. */
    void createQueuePair(TimedConnection connection) {
        openVerbs(connection.id());
        connection.times.start(Step.CREATE_QUEUE_PAIR);
        if (simulates) {
            delay();
        } else {
            connection.queuePair(newQueuePair(connection));
        }
        connection.times.end(Step.CREATE_QUEUE_PAIR);
        progress.done(Step.CREATE_QUEUE_PAIR);
    }

    /** Changes the state of a connection's queue pair. */
    void modify(TimedConnection connection, Transition transition) {
        connection.times.start(transition.attributes());
        var attributes = connection.id().initQueuePairAttributes(transition.target());
        connection.times.end(transition.attributes());
        connection.times.start(transition.change());
        QueuePair queuePair = connection.queuePair();
        if (queuePair == null) {
            delay();
        } else {
            queuePair.modify(attributes);
        }
        connection.times.end(transition.change());
        progress.done(transition.change());
    }

    private void delay() {
        long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(delayMicros);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Returns the connection parameters that this side sends. */
    ConnectionParameters parameters(TimedConnection connection) {
        QueuePair queuePair = connection.queuePair();
        int number = queuePair == null ? nextNumber.getAndIncrement() & QUEUE_PAIR_MASK : queuePair.number();
        return ConnectionParameters.NONE.withDepths(1, 1).withQueuePairNumber(number);
    }

    // ---- clean-up

    /** Destroys the queue pairs of the current test. */
    void destroyQueuePairs() {
        round.all.start(Step.DESTROY_QUEUE_PAIR);
        round.connections.forEach(TimedConnection::destroyQueuePair);
        round.all.end(Step.DESTROY_QUEUE_PAIR);
    }

    /** Destroys the identifiers of the current test. */
    void destroyIds() {
        round.all.start(Step.DESTROY_ID);
        round.connections.forEach(TimedConnection::destroyId);
        round.all.end(Step.DESTROY_ID);
    }

    /** Stops the workers and closes all resources except the event channel. */
    @Override
    public void close() {
        workers.shutdownNow();
        try {
            workers.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        destroyQueuePairs();
        destroyIds();
        synchronized (this) {
            if (completions != null) {
                completions.close();
            }
            if (domain != null) {
                domain.close();
            }
        }
    }
}
