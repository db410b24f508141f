package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.verbs.spi.StackReserve;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * An engine, which drives queue pairs; a process has several ({@link Engines}).
 *
 * <p>All protocol state is guarded by the engine lock. The lock is held for a duty cycle of microseconds, and never
 * while blocked in the kernel.
 *
 * <p>A duty cycle drains the ports, fires expired timers and transmits. It is run by a thread that polls or posts, by a
 * thread that waits ({@link #driveUntil}), or by the background thread if there is no other; see
 * {@link WaitCoordinator} and decision 007.
 *
 * <p>The order matters in two respects. Timers fire only after all ports were found empty, so that a process that was paused does
 * not time out although the packets are in its sockets. If the application is expected to reply ({@link ReplyForecast}), a cycle
 * of a polling thread does not transmit responses to its input; the thread's next post or poll does. The application's reply then
 * leaves before the bare acknowledgement of the request, which would otherwise cost the peer an additional duty cycle.
 */
public final class Engine implements WaitDriver {
    /** The time for which the number of a closed queue pair is not reused. */
    private static final long NUMBER_HOLD_OFF_NANOS = 60_000_000_000L;

    /** Selects one cycle in 16, in which a polling thread includes the ports that have been idle for long. */
    private static final int COLD_MASK = 15;

    /** The time after which a duty cycle answers the packets that it has received so far. */
    private static final long LONGEST_SILENCE_NANOS = 1_000_000;

    private static final int LEADER_SPINS = 100;
    private static final long LEADER_PAUSE_NANOS = 20_000;

    /** The number of deadlines not of queue pairs for which the deadline queue reserves space. */
    private static final int OTHER_DEADLINES = 64;

    /** The maximum time by which pending transmissions delay the exit of the process. */
    private static final long FINISH_NANOS = 50_000_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Engines engines;
    private final StackClock clock;
    private final int index;
    private final LinkSet links;
    private final EngineCounters counters = new EngineCounters();
    private final QueuePairTable queuePairs;
    private final CrossEngineQueue crossEngineQueue = new CrossEngineQueue();
    private final DeadlineQueue deadlines = new DeadlineQueue();
    private final Doorbells doorbells = new Doorbells();
    private final FaultContainment faults = new FaultContainment(this);
    private final Consumer<DrivenQueuePair> onDoorbell = this::onDoorbell;
    private final WaitCoordinator waitCoordinator;
    private final Receiver receiver;
    private final Transmitter transmitter;
    private final ReplyForecast replies = new ReplyForecast();
    private final EngineInput input;
    private final YieldPolicy yieldPolicy;
    private long now;

    /**
     * Creates an engine and starts its background thread.
     *
     * @param engines the process' engines
     * @param index the index of this engine; 0 is the main one
     * @param links creates its links; the engine owns them
     */
    Engine(Engines engines, int index, LinkSet links) {
        this.engines = engines;
        clock = engines.clock();
        this.index = index;
        this.links = links;
        now = clock.nanoTime();
        yieldPolicy = new YieldPolicy(now);
        queuePairs = new QueuePairTable(engines.numbers(), index, engines.random()::nextInt);
        receiver = new Receiver(this);
        input = new EngineInput(receiver, crossEngineQueue);
        transmitter = new Transmitter(this);
        waitCoordinator = new WaitCoordinator(this, links, index == 0 ? "rdma4j-engine" : "rdma4j-engine-" + index);
        if (engines.driver() == null) {
            waitCoordinator.start();
        }
    }

    // ---- for the owners of protocol state ----

    /**
     * Takes the engine lock and reads the clock. {@link #unlock} must follow.
     *
     * @throws StackOverflowError if the thread has too little stack left; the lock is then not taken
     */
    public void lock() {
        if (!lock.isHeldByCurrentThread()) {
            StackReserve.require();
        }
        lockInner();
    }

    /** Takes the engine lock like {@link #lock}, for a thread that holds another engine's lock and therefore has enough stack. */
    public void lockInner() {
        lock.lock();
        now = clock.nanoTime();
    }

    /** Takes the engine lock if it is free, and reads the clock. */
    private boolean tryLock() {
        if (!lock.tryLock()) {
            return false;
        }
        now = clock.nanoTime();
        return true;
    }

    /** Transmits pending work, and releases the engine lock. */
    public void unlock() {
        if (lock.getHoldCount() == 1) {
            transmitAndUnlock();
            serveDoorbells();
        } else {
            lock.unlock();
        }
    }

    /** Transmits posted and pending work, and releases the engine lock in any case. */
    private void transmitAndUnlock() {
        try {
            transmit();
            noteDeadline();
        } catch (RuntimeException | Error fault) {
            faults.onFault(fault);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether this thread holds the engine lock. */
    public boolean isLocked() {
        return lock.isHeldByCurrentThread();
    }

    /** Returns the time of the current duty cycle; under the engine lock. */
    public long nowNanos() {
        return now;
    }

    /** Sets, moves or (with {@link Long#MAX_VALUE}) cancels a deadline; under the engine lock. */
    public void schedule(DeadlineTask item, long deadlineNanos) {
        deadlines.schedule(item, deadlineNanos);
    }

    /** Removes an item and its deadline; under the engine lock. */
    public void cancel(DeadlineTask item) {
        deadlines.remove(item);
    }

    /** Sets the source of multicast frames; under the engine lock. */
    public void multicastSource(FrameSource source) {
        input.groups(source);
    }

    /** Returns the clock. */
    public StackClock clock() {
        return clock;
    }

    /** Returns all engines of the process. */
    public Engines engines() {
        return engines;
    }

    /** Returns the index of this engine. */
    public int index() {
        return index;
    }

    /** Returns whether this is the main engine, which does everything that does not belong to a queue pair. */
    public boolean isMain() {
        return index == 0;
    }

    /** Returns the counters. */
    public EngineCounters counters() {
        return counters;
    }

    /** Returns the upper 8 bits of this process' queue pair numbers and communication IDs. */
    public int slot() {
        return engines.numbers().slot();
    }

    /** Returns a generator of unpredictable numbers; any thread. */
    public RandomGenerator random() {
        return engines.random();
    }

    // ---- ports ----

    /** Adds an open port, which the engine drives; under the engine lock. */
    public void addPort(Port port) {
        input.add(port);
    }

    /** Returns the open port of a local address, or null; under the engine lock. */
    public @Nullable Port findPort(InetAddress address) {
        return input.find(address);
    }

    /** Returns the set that opens links for this engine; under the engine lock. */
    public LinkSet links() {
        return links;
    }

    /** Returns a link with the capture, trace and faults that this process is configured for. */
    public Link decorate(Link link) {
        return engines.decorator().decorate(link);
    }

    /**
     * Opens a link on the address and port of {@code first} that receives the frames of this engine's queue pairs; see
     * {@link LinkSet#openSteered}. Under the engine lock.
     *
     * @return the link, or null if frames cannot be steered there
     * @throws IOException if {@code first} is closed, or no socket can be opened
     */
    public @Nullable Link openSteered(Link first) throws IOException {
        return links.openSteered(
                first, engines.numbers().first(index), engines.numbers().last(index));
    }

    /** Returns the receiver of the frames that ports and groups receive. */
    public Receiver receiver() {
        return receiver;
    }

    // ---- queue pairs ----

    /** Reserves a number for a new queue pair; returns -1 if there are too many. Under the engine lock. */
    public int reserveQueuePairNumber() {
        return queuePairs.reserve(now);
    }

    /** Releases the number of a queue pair that could not be created; under the engine lock. */
    public void releaseQueuePairNumber(int number) {
        queuePairs.release(number);
    }

    /** Starts to drive a queue pair with a reserved number; under the engine lock. */
    public DrivenQueuePair addQueuePair(QueuePairMachine machine, Consumer<Throwable> onFailure) {
        deadlines.reserve(queuePairs.size() + 1 + OTHER_DEADLINES);
        DrivenQueuePair queuePair = new DrivenQueuePair(this, machine, onFailure);
        queuePairs.put(queuePair);
        return queuePair;
    }

    /**
     * Resets a queue pair after it has sent the data that it may send now and the responses that it owes its peer. The
     * acknowledgement of a polled receive may still be pending, and without it the peer would retransmit its last message in
     * vain. Under the engine lock.
     */
    public void reset(DrivenQueuePair queuePair) {
        transmit();
        // The run gave each queue pair one quantum, in which new data go first; the acknowledgement must not depend on
        // it.
        queuePair.machine.abandon();
        transmitter.settle(queuePair, now);
        queuePair.machine.reset();
        queuePair.forgetFailure();
    }

    /** Stops driving a queue pair; under the engine lock. Its number is not reused for a minute. */
    public void removeQueuePair(DrivenQueuePair queuePair) {
        deadlines.remove(queuePair);
        faults.forget(queuePair);
        queuePair.removed = true;
        queuePair.flow.close();
        queuePair.port = null;
        queuePairs.remove(queuePair.machine.number(), now + NUMBER_HOLD_OFF_NANOS);
    }

    /** Notes the queue pair that the engine works for; under the engine lock. */
    void workFor(DrivenQueuePair queuePair) {
        faults.workFor(queuePair);
    }

    /** Fails all queue pairs in the next duty cycle because of an error that belongs to none of them. Any thread. */
    void failAllSoon(Throwable fault) {
        faults.failAllSoon(fault);
        waitCoordinator.noteDeadline(clock.nanoTime());
    }

    /** Fails all queue pairs because of the error that {@link #failAllSoon} has set; under the engine lock. */
    void failAll() {
        queuePairs.forEach(faults.failWithDevice());
        faults.onAllFailed();
    }

    /** See {@link Engines#failQueuePairs}. */
    void failQueuePairs() {
        lock();
        try {
            queuePairs.forEach(queuePair -> {
                queuePair.machine.toError();
                transmitter.activate(queuePair);
            });
            transmitAll();
        } finally {
            unlock();
        }
    }

    /**
     * Sends the packets that polling threads left for their next cycle, since the process exits. Any thread. Waits only briefly
     * for the engine lock. The engine still works for other shutdown hooks, but no thread blocks in the kernel for it, because
     * the Java virtual machine would wait for that thread.
     */
    void finish() {
        try {
            transmitPending();
        } finally {
            waitCoordinator.end();
        }
    }

    /** Sends pending packets, stops the background thread and closes the links. No thread may use the engine afterwards. */
    void close() {
        transmitPending();
        waitCoordinator.close();
        lock.lock();
        try {
            links.close();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sends the packets that polling threads left for their next duty cycle. Any thread; waits only briefly for the engine lock.
     */
    void transmitPending() {
        try {
            if (!lock.tryLock(FINISH_NANOS, TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            now = clock.nanoTime();
            transmitAll();
        } catch (RuntimeException | Error fault) {
            faults.onFault(fault);
        } finally {
            lock.unlock();
        }
    }

    private void transmitAll() {
        long giveUpNanos = clock.nanoTime() + FINISH_NANOS;
        do {
            transmit();
        } while (transmitter.hasWork() && clock.nanoTime() - giveUpNanos < 0);
    }

    /** Returns the number of queue pairs; under the engine lock. */
    public int queuePairCount() {
        return queuePairs.size();
    }

    // ---- between engines ----

    /**
     * Enqueues a copy of a frame from another engine for the next duty cycle; returns false if the queue is full. Any
     * thread.
     */
    boolean enqueue(Port port, Frame frame) {
        boolean isEnqueued = crossEngineQueue.enqueue(port, frame);
        // Enqueue before this check: a thread that is about to block publishes that before its last check of the queue.
        waitCoordinator.noteDeadline(clock.nanoTime());
        return isEnqueued;
    }

    /**
     * Receives all pending frames, up to as many as a socket buffer holds. The caller holds the lock of the main engine
     * or no engine lock.
     */
    void receivePending() {
        lockInner();
        try {
            input.receiveAll(now);
        } catch (RuntimeException | Error fault) {
            faults.onFault(fault);
        } finally {
            unlock();
        }
    }

    /** Returns whether frames of other engines are queued. Any thread. */
    boolean hasHandedOverFrames() {
        return !crossEngineQueue.isEmpty();
    }

    @Nullable
    DrivenQueuePair findQueuePair(int number) {
        return queuePairs.find(number);
    }

    /** Notes that a receive has completed; under the engine lock. */
    public void noteMessage() {
        replies.onMessage();
    }

    /** Queues a queue pair for transmission; under the engine lock. */
    public void activate(DrivenQueuePair queuePair) {
        transmitter.activate(queuePair);
    }

    void refreshDeadline(DrivenQueuePair queuePair) {
        deadlines.schedule(queuePair, queuePair.nextDeadlineNanos());
    }

    private void onDoorbell(DrivenQueuePair queuePair) {
        if (queuePair.removed) {
            return; // closed since it rang: no event may be reported for it
        }
        replies.onPost();
        faults.workFor(queuePair);
        try {
            if (queuePair.failRequested) {
                queuePair.failRequested = false; // the queue pair may be reset and used again
                queuePair.machine.toError();
            }
            queuePair.machine.flush();
        } catch (RuntimeException | Error e) {
            queuePair.fail(e);
        }
        transmitter.activate(queuePair);
    }

    // ---- driving ----

    /**
     * Moves a queue pair to the error state, now or in the cycle of the thread that is driving. Any thread, also with
     * the lock of another engine; does not wait.
     */
    public void failAsync(DrivenQueuePair queuePair) {
        queuePair.failRequested = true;
        post(queuePair);
        waitCoordinator.noteDeadline(clock.nanoTime());
    }

    /**
     * Transmits the work posted to a queue pair, now or in the cycle of the thread that is driving. Any thread; does
     * not wait.
     */
    public void post(DrivenQueuePair queuePair) {
        if (tryLock()) {
            try {
                onDoorbell(queuePair);
                transmitter.run(now);
                noteDeadline();
            } catch (RuntimeException | Error fault) {
                faults.onFault(fault);
            } finally {
                lock.unlock();
            }
        } else {
            doorbells.ring(queuePair);
        }
        serveDoorbells();
    }

    /**
     * Processes the doorbells that rang while this thread held the lock. A thread that rings and then fails to get the
     * lock relies on this check after the release.
     */
    private void serveDoorbells() {
        while (!doorbells.isEmpty() && !lock.isHeldByCurrentThread() && tryLock()) {
            transmitAndUnlock();
        }
    }

    /**
     * Runs one duty cycle unless another thread is running one. Any thread; does not wait. Returns whether input was
     * received.
     */
    @Override
    public boolean poll() {
        StackReserve.require();
        return pollInner();
    }

    /** Runs a duty cycle like {@link #poll}, but does not check the thread's stack. */
    @SuppressWarnings("ThreadPriorityCheck") // a hint that does not affect correctness
    public boolean pollInner() {
        // Threads that wait for the lock would otherwise lose every race against a busy poller.
        if (lock.hasQueuedThreads() || !tryLock()) {
            Thread.onSpinWait();
            return false;
        }
        boolean received = false;
        boolean yields = false;
        try {
            counters.cycles++;
            waitCoordinator.notePoll(now);
            transmit();
            replies.onCycle();
            received = receive((counters.cycles & COLD_MASK) == 0, false) > 0;
            runTimers();
            if (!received || waitCoordinator.isLeaderAsleep() || !replies.mayDefer()) {
                transmitter.run(now);
            }
            noteDeadline();
            yields = yieldPolicy.yieldsAfter(received, now);
        } catch (RuntimeException | Error fault) {
            faults.onFault(fault);
        } finally {
            lock.unlock();
        }
        serveDoorbells();
        if (yields) {
            Thread.yield();
        }
        return received;
    }

    @Override
    public boolean driveUntil(Waiter waiter, BooleanSupplier done, long deadlineNanos) {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("a thread that holds the engine lock must not wait");
        }
        StackReserve.require();
        StackDriver driver = engines.driver();
        return driver == null
                ? waitCoordinator.await(waiter, done, deadlineNanos)
                : driver.await(clock, done, deadlineNanos);
    }

    @Override
    public void execute(Runnable task) {
        StackDriver driver = engines.driver();
        if (driver == null) {
            WaitDriver.super.execute(task);
        } else {
            driver.execute(task);
        }
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public boolean isInVirtualTime() {
        return engines.isDriven();
    }

    @Override
    public void wake(Waiter waiter) {
        waitCoordinator.wakeIfLeader(waiter);
    }

    @Override
    public void beginOutsideWait() {
        waitCoordinator.beginPassiveWait();
    }

    @Override
    public void endOutsideWait() {
        waitCoordinator.endPassiveWait();
    }

    /**
     * Returns the time of the next deadline, which is now while transmissions are pending; {@link Long#MAX_VALUE} if
     * there is none. Any thread.
     */
    public long nextActivityNanos() {
        lock();
        try {
            return transmitter.hasWork() || !doorbells.isEmpty() ? now : nextDeadlineNanos();
        } finally {
            lock.unlock();
        }
    }

    /** The input that the leader's cycle polls. Each poll is a system call. */
    enum Poll {
        /** All UDP links, or none if the last poll found nothing: input since then prevents the leader from blocking. */
        LINKS_UNLESS_IDLE,
        /** All UDP links. */
        LINKS,
        /** All UDP links and the channels of this host's processes. */
        ALL
    }

    /** Runs a duty cycle of the leader. Returns true if the leader may then block until the published deadline. */
    boolean leadCycle(BooleanSupplier done, Poll poll) {
        boolean sleep = false;
        lockToLead();
        try {
            boolean received = receiveToLead(poll);
            boolean isDone = done.getAsBoolean(); // the caller's condition: its exceptions are the caller's
            if (!isDone || received && !replies.mayDefer()) {
                sleep = finishToLead(received || isDone);
            }
        } finally {
            lock.unlock();
        }
        serveDoorbells();
        return sleep;
    }

    /** Runs the first part of the leader's cycle. Returns false if nothing was received. */
    private boolean receiveToLead(Poll poll) {
        try {
            counters.cycles++;
            transmit();
            replies.onCycle();
            if (deadlines.nextDeadlineNanos() <= now) {
                return runTimers() > 0;
            }
            boolean isKnownEmpty = poll == Poll.LINKS_UNLESS_IDLE && input.wasLastEmpty();
            int received = isKnownEmpty ? 0 : receive(true, poll == Poll.ALL);
            runTimers(); // the input may have set a timer that is already due
            return received > 0;
        } catch (RuntimeException | Error fault) {
            faults.onFault(fault);
            return true;
        }
    }

    /**
     * Transmits at the end of the leader's cycle. Returns true if the leader may block, until the published deadline.
     *
     * @param staysAwake true if the leader must not block
     */
    private boolean finishToLead(boolean staysAwake) {
        try {
            transmitter.run(now);
            boolean sleep = !staysAwake && !transmitter.hasWork();
            if (sleep) {
                waitCoordinator.publishSleep(nextDeadlineNanos());
            }
            return sleep;
        } catch (RuntimeException | Error fault) {
            faults.onFault(fault);
            return false;
        }
    }

    /**
     * Takes the lock without queueing for it. Polling threads yield to queued threads, and a poller that drives anyway
     * must not yield for each packet that wakes the leader.
     */
    private void lockToLead() {
        for (int tries = 0; !tryLock(); tries++) {
            if (tries < LEADER_SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, LEADER_PAUSE_NANOS);
            }
        }
    }

    /**
     * Transmits pending work if the duty cycle has already taken long; under the engine lock. A host that is short of processors,
     * or runs interpreted code, needs longer for the packets in its sockets than its peers wait for an answer.
     */
    void answerIfLate() {
        long later = clock.nanoTime();
        if (later - now > LONGEST_SILENCE_NANOS) {
            now = later;
            transmitter.run(later);
        }
    }

    /** Transmits posted and pending work; under the engine lock. */
    private void transmit() {
        if (faults.mustFailAll()) {
            failAll();
        }
        doorbells.drain(onDoorbell);
        transmitter.run(now);
    }

    private void noteDeadline() {
        if (waitCoordinator.isLeaderAsleep()) {
            waitCoordinator.noteDeadline(transmitter.hasWork() ? now : nextDeadlineNanos());
        }
    }

    private long nextDeadlineNanos() {
        return Math.min(deadlines.nextDeadlineNanos(), input.nextDeadlineNanos());
    }

    /** Fires the expired timers, after receiving the pending packets that may stop them; returns the number of frames. */
    private int runTimers() {
        if (deadlines.nextDeadlineNanos() > now) {
            return 0;
        }
        faults.receiving(true);
        int frames = input.receiveAll(now);
        faults.receiving(false);
        deadlines.runDue(now);
        return frames;
    }

    private int receive(boolean cold, boolean channels) {
        faults.receiving(true);
        int frames = input.receive(now, cold, channels);
        faults.receiving(false);
        return frames;
    }
}
