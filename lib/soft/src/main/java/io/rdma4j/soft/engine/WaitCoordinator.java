package io.rdma4j.soft.engine;

import io.rdma4j.link.LinkSet;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.Waiter;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Coordinates the threads that wait for an engine, and drives the engine while no thread polls (decision 007).
 *
 * <p>One thread leads: it runs duty cycles and blocks in the kernel between them, without the engine lock. The other waiting
 * threads park and are woken by {@link Signal}s. A leader that leaves promotes another thread. A thread that waits for rare
 * events, such as connection requests, yields ({@link Waiter#yields}). Passive threads never lead: virtual threads, because they
 * would also block their carriers, and threads that wait outside of Java. The background thread belongs to the engine, and
 * yields.
 *
 * <pre>
 * waiting threads                  a thread polled within 1 ms   leader
 * one that does not yield, or more yes or no                     one of them
 * only some that yield             no                            the one that came last
 * only some that yield             yes                           none: the polling thread drives
 * some that yield, and passive     yes or no                     the yielding one that came last
 * only passive ones                yes or no                     the background thread
 * none                             no                            the background thread
 * none                             yes, or led within 1 ms       none
 * </pre>
 *
 * <p>These events change the leader:
 *
 * <ul>
 *   <li>A waiting thread finds no leader: it leads, if the table allows it.
 *   <li>A waiting thread finds a leader that yields: it wakes the leader, which leaves. A thread that yields and comes later also
 *   takes over, since its event is likely to come sooner.
 *   <li>A thread polls while the leader yields: it wakes the leader, which leaves, unless passive threads wait.
 *   <li>The leader's condition holds, its deadline passes, or it is interrupted: it leaves, and wakes the follower that came
 *       last, or otherwise the background thread if it rests or passive threads wait.
 *   <li>Polling ends: the background thread notices it at its next check, {@link BackgroundBackoff} apart, and leads or
 *       wakes the thread that yields. A thread that has just begun to wait checks once itself.
 * </ul>
 *
 * <p>The background thread rests, and checks nothing, while the same leader has been in place for {@value
 * #SETTLED_NANOS} nanoseconds. A leader whose last wait was short polls for a while before it blocks ({@link
 * AdaptiveSpin}).
 *
 * <p>A leader that is about to block publishes the deadline of its wait under the engine lock. A thread that sets an earlier
 * deadline under that lock wakes it. Therefore no deadline is missed, and a deadline later than the leader's costs no system
 * call.
 */
final class WaitCoordinator {

    /** A leader in place for this long is expected to stay: the background thread stops checking. */
    static final long SETTLED_NANOS = 50_000_000;

    /**
     * A leading application thread blocks no longer than it has led, within these limits. An interrupt must reach it even though
     * it blocks in a system call, but a long wait should not wake often.
     */
    private static final long SHORTEST_LEAD_SLEEP_NANOS = 100_000_000;

    private static final long LONGEST_LEAD_SLEEP_NANOS = 1_000_000_000;

    /** The interval at which a leader runs once the process exits. */
    private static final long ENDING_SLEEP_NANOS = 1_000_000;

    /** The time for which the exit of the process may wait for the leader to leave the kernel. */
    private static final long ENDING_PATIENCE_NANOS = 20_000_000;

    private static final long ENDING_CHECK_NANOS = 50_000;

    private static final long AWAKE = Long.MIN_VALUE;

    private final Engine engine;
    private final StackClock clock;
    private final LinkSet links;
    private final Thread background;
    private final Waiter backgroundWaiter = new Waiter(true);
    private final BooleanSupplier mustGiveWay = this::mustGiveWay;

    /** The thread that leads, or null. Set by that thread; only it sets it to null. */
    private final AtomicReference<@Nullable Waiter> leader = new AtomicReference<>();

    /** The waiting threads that do not yield, the leader among them. The first one came last, and is promoted first. */
    private final WaiterList followers = new WaiterList();

    /** The waiting threads that yield, the leader among them. The first one came last, and only it may lead. */
    private final WaiterList yieldingFollowers = new WaiterList();

    private final AtomicInteger passiveWaiters = new AtomicInteger();

    /** The waiting virtual threads, which never lead. */
    private final ConcurrentLinkedQueue<Waiter> parkedFollowers = new ConcurrentLinkedQueue<>();

    /** The time since which the leader has led. Written by the leader. */
    private volatile long leaderSinceNanos;

    /**
     * The time until which the leader blocks or is about to, or {@link #AWAKE}. Written by the leader, and published
     * under the engine lock.
     */
    private volatile long sleepDeadlineNanos = AWAKE;

    private final BackgroundBackoff backoff = new BackgroundBackoff();

    /** Used by the leader. */
    private final AdaptiveSpin spin = new AdaptiveSpin();

    /**
     * The time of the last poll. Written under the engine lock; also by that thread when it begins to wait, since it no
     * longer polls.
     */
    private volatile long lastPollNanos;

    /** The thread that polled last; written before {@link #lastPollNanos}. */
    private @Nullable Thread lastPoller;

    /** The time at which the last leader left; threads often wait again soon. */
    private volatile long lastLeadNanos;

    /** True while the background thread is parked until {@link #promote} unparks it. */
    private volatile boolean backgroundRests;

    /** True while the leader is in the kernel. */
    private volatile boolean inKernel;

    private volatile boolean ending;
    private volatile boolean closed;

    WaitCoordinator(Engine engine, LinkSet links, String threadName) {
        this.engine = engine;
        clock = engine.clock();
        this.links = links;
        lastPollNanos = clock.nanoTime() - BackgroundBackoff.USUAL_NANOS;
        lastLeadNanos = lastPollNanos;
        background = SharedThread.unstarted(threadName, this::runBackground);
    }

    void start() {
        background.start();
    }

    /**
     * Returns whether a thread is blocked in the kernel, or about to be, until {@link #noteDeadline} or input wakes it.
     */
    boolean isLeaderAsleep() {
        return sleepDeadlineNanos != AWAKE;
    }

    /** Notes a poll, which keeps threads that yield from leading. Called under the engine lock. */
    void notePoll(long nowNanos) {
        lastPoller = Thread.currentThread();
        lastPollNanos = nowNanos;
        if (sleepDeadlineNanos != AWAKE && doesLeaderYield() && passiveWaiters.get() == 0) {
            links.wakeup();
        }
    }

    private boolean doesLeaderYield() {
        Waiter current = leader.get();
        return current != null && current.yields();
    }

    /** Notes the earliest deadline. Called whenever the engine lock is about to be released. */
    void noteDeadline(long deadlineNanos) {
        if (deadlineNanos < sleepDeadlineNanos) {
            links.wakeup();
        }
    }

    /** See {@link io.rdma4j.verbs.wait.WaitDriver#wake}. */
    void wakeIfLeader(Waiter waiter) {
        if (leader.get() == waiter) {
            links.wakeup();
        }
    }

    /** See {@link io.rdma4j.verbs.wait.WaitDriver#driveUntil}. */
    boolean await(Waiter self, BooleanSupplier done, long deadlineNanos) {
        if (done.getAsBoolean()) {
            return true;
        }
        boolean isDone;
        if (Thread.currentThread().isVirtual()) {
            isDone = awaitParked(self, done, deadlineNanos); // it would also block its carrier if it led
        } else {
            isDone = self.yields() ? awaitYielding(self, done, deadlineNanos) : awaitOrLead(self, done, deadlineNanos);
        }
        if (!isDone && closed) {
            throw new ClosedException("poll", "the stack is closed", "");
        }
        return isDone;
    }

    private boolean awaitOrLead(Waiter self, BooleanSupplier done, long deadlineNanos) {
        followers.addFirst(self);
        try {
            while (!done.getAsBoolean()) {
                if (isEnded(deadlineNanos)) {
                    return false;
                }
                if (leader.compareAndSet(null, self)) {
                    lead(self, done, deadlineNanos);
                } else {
                    if (doesLeaderYield()) {
                        // A thread that waits for its own event leads, which saves a thread switch per event.
                        links.wakeup();
                    }
                    park(deadlineNanos);
                }
            }
            return true;
        } finally {
            followers.remove(self);
            // This thread may have been promoted just when it no longer needed to wait.
            promote();
        }
    }

    private boolean awaitYielding(Waiter self, BooleanSupplier done, long deadlineNanos) {
        if (BackgroundBackoff.isPolling(clock.nanoTime() - lastPollNanos)
                && Thread.currentThread().equals(lastPoller)) {
            lastPollNanos = clock.nanoTime() - BackgroundBackoff.USUAL_NANOS; // it no longer polls
        }
        BooleanSupplier isOver =
                () -> done.getAsBoolean() || mustYield(self); // a leader allocates nothing before it can resign
        yieldingFollowers.addFirst(self);
        try {
            if (doesLeaderYield()) {
                links.wakeup();
            }
            long pauseNanos = BackgroundBackoff.POLLING_NANOS;
            while (!done.getAsBoolean()) {
                if (isEnded(deadlineNanos)) {
                    return false;
                }
                if (!mustYield(self) && leader.compareAndSet(null, self)) {
                    lead(self, isOver, deadlineNanos);
                } else {
                    park(Math.min(deadlineNanos, pauseNanos == 0 ? Long.MAX_VALUE : clock.nanoTime() + pauseNanos));
                    pauseNanos = 0; // the background thread watches now for the end of polling
                }
            }
            return true;
        } finally {
            yieldingFollowers.remove(self);
            promote();
        }
    }

    /** Returns whether a thread that yields must not lead now. */
    private boolean mustYield(Waiter self) {
        return !followers.isEmpty()
                || yieldingFollowers.peekFirst() != self
                || passiveWaiters.get() == 0 && BackgroundBackoff.isPolling(clock.nanoTime() - lastPollNanos);
    }

    private boolean awaitParked(Waiter self, BooleanSupplier done, long deadlineNanos) {
        parkedFollowers.add(self);
        beginPassiveWait();
        try {
            while (!done.getAsBoolean()) {
                if (isEnded(deadlineNanos)) {
                    return false;
                }
                park(deadlineNanos);
            }
            return true;
        } finally {
            endPassiveWait();
            var _ = parkedFollowers.remove(self);
        }
    }

    /** Notes that a thread waits that never leads: a virtual thread, or one outside of Java. The background thread leads instead. */
    void beginPassiveWait() {
        passiveWaiters.incrementAndGet();
        if (leader.get() == null) {
            LockSupport.unpark(background);
        }
    }

    /** Reverts {@link #beginPassiveWait}. */
    void endPassiveWait() {
        passiveWaiters.decrementAndGet();
    }

    private boolean isOver(BooleanSupplier done, long deadlineNanos) {
        return done.getAsBoolean() || isEnded(deadlineNanos);
    }

    /** Returns whether a wait ends although its condition does not hold. */
    private boolean isEnded(long deadlineNanos) {
        return closed
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

    private void lead(Waiter self, BooleanSupplier done, long deadlineNanos) {
        try {
            leaderSinceNanos = clock.nanoTime();
            Engine.Poll poll = Engine.Poll.LINKS_UNLESS_IDLE;
            while (!isOver(done, deadlineNanos)) {
                // While there is input, the channels are polled occasionally. A wait ends immediately if they have any.
                boolean isLocalReady = false;
                if (engine.leadCycle(done, poll)) {
                    isLocalReady =
                            self.yields() ? sleep(self, done, deadlineNanos) : spinAndSleep(self, done, deadlineNanos);
                }
                poll = isLocalReady ? Engine.Poll.ALL : Engine.Poll.LINKS;
            }
        } finally {
            sleepDeadlineNanos = AWAKE;
            lastLeadNanos = clock.nanoTime();
            leader.set(null);
            Waiter next = self.yields() ? yieldingFollowers.peekFirst() : null;
            if (next != null && next != self) {
                next.wake(); // it came last, and takes over
            }
            promote();
        }
    }

    /**
     * Publishes the deadline of the leader's wait. Called under the engine lock by the leader's cycle, before it
     * blocks.
     */
    void publishSleep(long untilNanos) {
        sleepDeadlineNanos = untilNanos;
    }

    /**
     * Spins for input if that is worthwhile, and blocks if there is none. Returns whether channels of this host's
     * processes may have input that spinning does not find.
     */
    private boolean spinAndSleep(Waiter self, BooleanSupplier done, long deadlineNanos) {
        long begin = clock.nanoTime();
        long spinNanos = spin.begin();
        boolean found = spinNanos > 0 && spinForInput(done, deadlineNanos, begin, spinNanos);
        boolean isLocalReady = !found && sleep(self, done, deadlineNanos);
        spin.end(clock.nanoTime() - begin, found);
        return isLocalReady;
    }

    /** Returns whether polling finds input or other work that prevents the leader from blocking. */
    private boolean spinForInput(BooleanSupplier done, long deadlineNanos, long begin, long spinNanos) {
        sleepDeadlineNanos = AWAKE;
        while (clock.nanoTime() - begin < spinNanos) {
            if (engine.poll() || isOver(done, deadlineNanos)) {
                return true;
            }
        }
        return !engine.leadCycle(done, Engine.Poll.LINKS_UNLESS_IDLE);
    }

    /** Blocks. Returns whether channels of this host's processes may have input then. */
    private boolean sleep(Waiter self, BooleanSupplier done, long deadlineNanos) {
        boolean isLocalReady = true;
        // A change that this check misses was made after the deadline was published, and wakes this thread.
        if (!done.getAsBoolean() && !engine.hasHandedOverFrames()) {
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
            // A thread that ended the process between the check above and the system call has also woken the links.
            return links.await(timeoutNanos);
        } catch (RuntimeException | Error fault) {
            // A failed wait changes nothing: the leader polls instead, but not too often. Frames are not lost.
            SharedThread.report(WaitCoordinator.class, "an engine could not wait for frames", fault);
            LockSupport.parkNanos(this, ENDING_SLEEP_NANOS);
            return true;
        } finally {
            inKernel = false;
        }
    }

    /**
     * Makes the leader sleep in Java, a millisecond at a time, instead of blocking in the kernel, because
     * the process exits. An exiting Java virtual machine waits 0.3 s for threads in system calls, and other shutdown
     * hooks may still use the engine. Returns when no thread is in the kernel, or after {@value #ENDING_PATIENCE_NANOS}
     * nanoseconds.
     */
    void end() {
        ending = true;
        links.wakeup();
        long begin = clock.nanoTime();
        while (inKernel && clock.nanoTime() - begin < ENDING_PATIENCE_NANOS) {
            LockSupport.parkNanos(this, ENDING_CHECK_NANOS);
        }
    }

    /** Ends all waits, and stops the background thread. Returns when no thread drives the engine. */
    void close() {
        closed = true;
        boolean interrupted = false;
        do {
            links.wakeup();
            LockSupport.unpark(background);
            followers.wakeAll();
            yieldingFollowers.wakeAll();
            parkedFollowers.forEach(Waiter::wake);
            try {
                Thread.sleep(Duration.ofNanos(ENDING_CHECK_NANOS));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        } while (background.isAlive() || isLedByAnother());
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether a thread other than the calling one leads. A listener of a signal may call this in the leading thread. */
    private boolean isLedByAnother() {
        Waiter current = leader.get();
        return current != null && !Thread.currentThread().equals(current.thread());
    }

    /** Ensures that a thread leads if one is needed. */
    private void promote() {
        if (leader.get() != null) {
            return;
        }
        Waiter next = followers.peekFirst();
        if (next != null) {
            next.wake();
        } else if (backgroundRests || passiveWaiters.get() > 0) {
            LockSupport.unpark(background);
        }
    }

    /** Stands by or leads until that changes; returns false when the engine is closed. All timers of the engine depend on it. */
    private boolean runBackground() {
        // This thread ignores interrupts; the flag would keep it from sleeping.
        var _ = Thread.interrupted();
        Waiter current = leader.get();
        if (current != null) {
            standBy(current);
        } else if (mustGiveWay()) {
            Waiter yielding = yieldingFollowers.peekFirst();
            if (yielding != null && !mustYield(yielding)) {
                backoff.takeOver();
                yielding.wake();
            }
            pause();
        } else if (leader.compareAndSet(null, backgroundWaiter)) {
            backoff.takeOver();
            lead(backgroundWaiter, mustGiveWay, Long.MAX_VALUE);
        }
        return !closed;
    }

    private void standBy(Waiter current) {
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
        LockSupport.parkNanos(this, backoff.next());
    }

    private boolean mustGiveWay() {
        return closed
                || !followers.isEmpty()
                || !yieldingFollowers.isEmpty()
                || passiveWaiters.get() == 0
                        && BackgroundBackoff.isPolling(clock.nanoTime() - Math.max(lastPollNanos, lastLeadNanos));
    }
}
