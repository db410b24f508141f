package io.rdma4j.soft.engine;

import io.rdma4j.link.LinkSet;
import io.rdma4j.soft.host.StackClock;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Who drives when nobody polls: one waiting thread leads, which means that it runs duty cycles and blocks in the kernel
 * between them, without the engine lock; the others park and are woken by {@link Signal}s. A leader that leaves promotes a
 * follower. Virtual threads never lead.
 *
 * <p>A background thread leads while nobody else waits or polls. While others do, it is on {@link BackgroundBackoff}: it looks every
 * few milliseconds whether they still do, and not at all while a leader has been in place for {@value #SETTLED_NANOS}
 * nanoseconds.
 *
 * <p>A leader whose last wait was short looks for a while before it blocks ({@link AdaptiveSpin}).
 *
 * <p>A blocked leader publishes until when it sleeps, under the engine lock; whoever sets an earlier deadline under that
 * lock wakes it. So no deadline is slept over, and a deadline that is later than the sleeper's costs no system call.
 */
final class WaitCoordinator {
    private static final System.Logger LOGGER = System.getLogger(WaitCoordinator.class.getName());

    /** A leader in place for this long is taken to stay: the background thread stops looking. */
    static final long SETTLED_NANOS = 50_000_000;

    /**
     * A leading application thread sleeps no longer than it has led, between these: an interrupt must reach it though it
     * sleeps in a system call, and a wait of hours must not cost what one of a second may.
     */
    private static final long SHORTEST_LEAD_SLEEP_NANOS = 100_000_000;

    private static final long LONGEST_LEAD_SLEEP_NANOS = 1_000_000_000;

    /** How often a leader looks once the process ends. */
    private static final long ENDING_SLEEP_NANOS = 1_000_000;

    /** How long the end of the process may wait for the leader to come out of the kernel. */
    private static final long ENDING_PATIENCE_NANOS = 20_000_000;

    private static final long ENDING_LOOK_NANOS = 50_000;

    private static final long AWAKE = Long.MIN_VALUE;

    private final Engine engine;
    private final StackClock clock;
    private final LinkSet links;
    private final Thread background;
    private final EngineWaiter backgroundWaiter;
    private final AtomicReference<@Nullable EngineWaiter> leader = new AtomicReference<>();
    private final ConcurrentLinkedQueue<EngineWaiter> followers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger virtualWaiters = new AtomicInteger();
    private volatile long leaderSinceNanos;
    private volatile long sleepDeadlineNanos = AWAKE;
    private final BackgroundBackoff backoff = new BackgroundBackoff();

    /** Belongs to the leader. */
    private final AdaptiveSpin spin = new AdaptiveSpin();

    private volatile long lastPollNanos;
    private volatile boolean backgroundRests;
    private volatile boolean inKernel;
    private volatile boolean ending;
    private volatile boolean closed;

    WaitCoordinator(Engine engine, LinkSet links, String threadName) {
        this.engine = engine;
        clock = engine.clock();
        this.links = links;
        lastPollNanos = clock.nanoTime() - BackgroundBackoff.USUAL_NANOS;
        background = new Thread(this::runBackground, threadName);
        background.setDaemon(true);
        backgroundWaiter = new EngineWaiter(this, background);
    }

    void start() {
        background.start();
    }

    /** The thread that leads while nobody else does. */
    Thread background() {
        return background;
    }

    /** Whether a thread is blocked in the kernel, or about to be, until {@link #noteDeadline} or input wakes it. */
    boolean isSomebodyAsleep() {
        return sleepDeadlineNanos != AWAKE;
    }

    /** Told at each poll, under the engine lock: keeps the background thread away. */
    void notePoll(long nowNanos) {
        lastPollNanos = nowNanos;
        if (sleepDeadlineNanos != AWAKE && leader.get() == backgroundWaiter) {
            links.wakeup();
        }
    }

    /** Told of each message of the connection manager, under the engine lock. */
    void noteManagement() {
        if (backoff.expect()) {
            LockSupport.unpark(background);
        }
    }

    /** Told the earliest deadline whenever the engine lock is about to be given back. */
    void noteDeadline(long deadlineNanos) {
        if (deadlineNanos < sleepDeadlineNanos) {
            links.wakeup();
        }
    }

    void wakeIfLeader(EngineWaiter waiter) {
        if (leader.get() == waiter) {
            links.wakeup();
        }
    }

    /** See {@link Engine#await}. */
    boolean await(Signal signal, BooleanSupplier done, long deadlineNanos) {
        if (done.getAsBoolean()) {
            return true;
        }
        EngineWaiter self = new EngineWaiter(this, Thread.currentThread());
        signal.add(self);
        try {
            return self.mayLead() ? awaitOrLead(self, done, deadlineNanos) : awaitParked(done, deadlineNanos);
        } finally {
            signal.remove(self);
        }
    }

    private boolean awaitOrLead(EngineWaiter self, BooleanSupplier done, long deadlineNanos) {
        followers.add(self);
        try {
            while (!isOver(done, deadlineNanos)) {
                if (leader.compareAndSet(null, self)) {
                    lead(self, done, deadlineNanos);
                } else {
                    if (leader.get() == backgroundWaiter) {
                        // It gives way to a thread that waits for itself, which saves a hand-over per event.
                        links.wakeup();
                    }
                    park(deadlineNanos);
                }
            }
        } finally {
            var _ = followers.remove(self);
            // This thread may have been promoted just when it did not need to wait any more.
            promote();
        }
        return done.getAsBoolean();
    }

    private boolean awaitParked(BooleanSupplier done, long deadlineNanos) {
        virtualWaiters.incrementAndGet();
        try {
            if (leader.get() == null) {
                LockSupport.unpark(background);
            }
            while (!isOver(done, deadlineNanos)) {
                park(deadlineNanos);
            }
        } finally {
            virtualWaiters.decrementAndGet();
        }
        return done.getAsBoolean();
    }

    private boolean isOver(BooleanSupplier done, long deadlineNanos) {
        return done.getAsBoolean()
                || Thread.currentThread().isInterrupted()
                || deadlineNanos != Long.MAX_VALUE && clock.nanoTime() - deadlineNanos >= 0;
    }

    private void park(long deadlineNanos) {
        if (deadlineNanos == Long.MAX_VALUE) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, deadlineNanos - clock.nanoTime());
        }
    }

    private void lead(EngineWaiter self, BooleanSupplier done, long deadlineNanos) {
        leaderSinceNanos = clock.nanoTime();
        try {
            Engine.Look look = Engine.Look.UNLESS_DRY;
            while (!isOver(done, deadlineNanos)) {
                boolean isLocalReady = true;
                if (engine.leadCycle(done, look)) {
                    isLocalReady = self == backgroundWaiter
                            ? sleep(self, done, deadlineNanos)
                            : lookAndSleep(self, done, deadlineNanos);
                }
                look = isLocalReady ? Engine.Look.EVERYWHERE : Engine.Look.AT_LINKS;
            }
        } finally {
            sleepDeadlineNanos = AWAKE;
            lastPollNanos = clock.nanoTime();
            leader.set(null);
            promote();
        }
    }

    /** Told under the engine lock by the leader's cycle, before it sleeps. */
    void publishSleep(long untilNanos) {
        sleepDeadlineNanos = untilNanos;
    }

    /** Looks for input first if that is worth its while, and sleeps if there is none; returns the same as {@link #sleep}. */
    private boolean lookAndSleep(EngineWaiter self, BooleanSupplier done, long deadlineNanos) {
        long begin = clock.nanoTime();
        long lookNanos = spin.begin();
        boolean found = lookNanos > 0 && look(done, deadlineNanos, begin, lookNanos);
        boolean isLocalReady = found || sleep(self, done, deadlineNanos);
        spin.end(clock.nanoTime() - begin, found);
        return isLocalReady;
    }

    /** Whether a look finds something, if only that there is to be done what forbids to sleep. */
    private boolean look(BooleanSupplier done, long deadlineNanos, long begin, long lookNanos) {
        sleepDeadlineNanos = AWAKE;
        while (clock.nanoTime() - begin < lookNanos) {
            if (engine.poll() || isOver(done, deadlineNanos)) {
                return true;
            }
        }
        return !engine.leadCycle(done, Engine.Look.UNLESS_DRY);
    }

    /** Sleeps; whether channels of this host's processes may have input then. */
    private boolean sleep(EngineWaiter self, BooleanSupplier done, long deadlineNanos) {
        boolean isLocalReady = true;
        // A change that this look misses was made after the sleep was published, and wakes.
        if (!done.getAsBoolean() && !engine.isHandedSomething()) {
            long now = clock.nanoTime();
            long until = Math.min(sleepDeadlineNanos, deadlineNanos);
            long timeout = until == Long.MAX_VALUE ? Long.MAX_VALUE : until - now;
            if (self != backgroundWaiter) {
                long led = now - leaderSinceNanos;
                timeout = Math.min(timeout, Math.clamp(led, SHORTEST_LEAD_SLEEP_NANOS, LONGEST_LEAD_SLEEP_NANOS));
            }
            if (timeout > 0) {
                isLocalReady = block(timeout);
            }
        }
        sleepDeadlineNanos = AWAKE;
        return isLocalReady;
    }

    private boolean block(long timeoutNanos) {
        if (ending) {
            LockSupport.parkNanos(this, Math.min(timeoutNanos, ENDING_SLEEP_NANOS));
            return true;
        }
        inKernel = true;
        try {
            // Who ends the process between the look above and the system call has woken the links, too.
            return links.await(timeoutNanos);
        } finally {
            inKernel = false;
        }
    }

    /**
     * The process ends: who leads sleeps in Java from now on, a millisecond at a time, and not in the kernel. A Java virtual
     * machine that ends waits 0.3 s for threads that are in a system call; and other shutdown hooks may still use the
     * engine. Returns when nobody is in the kernel any more, or after {@value #ENDING_PATIENCE_NANOS} nanoseconds.
     */
    void end() {
        ending = true;
        links.wakeup();
        long begin = clock.nanoTime();
        while (inKernel && clock.nanoTime() - begin < ENDING_PATIENCE_NANOS) {
            LockSupport.parkNanos(this, ENDING_LOOK_NANOS);
        }
    }

    /** Stops the background thread, and returns when it has ended. */
    void close() {
        closed = true;
        boolean interrupted = false;
        while (background.isAlive()) {
            links.wakeup();
            LockSupport.unpark(background);
            try {
                background.join(ENDING_SLEEP_NANOS / 1_000_000);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sees to it that somebody leads if somebody must. */
    private void promote() {
        if (leader.get() != null) {
            return;
        }
        EngineWaiter next = followers.peek();
        if (next != null) {
            LockSupport.unpark(next.thread);
        } else if (backgroundRests || virtualWaiters.get() > 0) {
            LockSupport.unpark(background);
        }
    }

    private void runBackground() {
        while (!closed) {
            try {
                takeTurn();
            } catch (RuntimeException e) {
                // Timers and acknowledgements of the whole process depend on this thread: it goes on, but does not
                // spin.
                LOGGER.log(System.Logger.Level.ERROR, "the engine's duty cycle failed", e);
                LockSupport.parkNanos(this, SETTLED_NANOS);
            }
            // It answers to no interrupt; a flag left up would keep it from sleeping.
            var _ = Thread.interrupted();
        }
    }

    private void takeTurn() {
        EngineWaiter current = leader.get();
        if (current != null) {
            standBy(current);
        } else if (mustGiveWay()) {
            pause();
        } else if (leader.compareAndSet(null, backgroundWaiter)) {
            backoff.takeOver();
            lead(backgroundWaiter, this::mustGiveWay, Long.MAX_VALUE);
        }
    }

    private void standBy(EngineWaiter current) {
        if (clock.nanoTime() - leaderSinceNanos < SETTLED_NANOS) {
            pause();
            return;
        }
        backgroundRests = true;
        if (leader.get() == current) {
            LockSupport.park(this);
        }
        backgroundRests = false;
    }

    private void pause() {
        LockSupport.parkNanos(this, backoff.begin());
        backoff.end();
    }

    private boolean mustGiveWay() {
        return closed
                || !followers.isEmpty()
                || virtualWaiters.get() == 0 && backoff.isPolling(clock.nanoTime() - lastPollNanos);
    }
}
