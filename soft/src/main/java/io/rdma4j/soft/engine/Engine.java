package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.wire.Frame;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Drives queue pairs: one of a process' {@link Engines}. All protocol state belongs to the engine lock, which is held for
 * a duty cycle of microseconds and never while blocked in the kernel.
 *
 * <p>A duty cycle drains the ports, runs the timers that are due and transmits. It is run by whoever polls or posts, by
 * a thread that waits ({@link #await}), or by the background thread when there is no other; see {@link WaitCoordinator}.
 *
 * <p>Order matters in two places. Timers fire only after all ports were found empty, so that a process that was paused
 * does not time out on packets that lie in its sockets. And a cycle by a thread that polls leaves what its input calls
 * for unsent until that thread comes again, to post or to poll: so the application's answer goes out before the bare
 * acknowledgement of what it answers, which otherwise costs the peer a duty cycle in between.
 */
public final class Engine {
    /** How long the number of a closed queue pair is not given out again. */
    private static final long NUMBER_HOLD_OFF_NANOS = 60_000_000_000L;

    /** Frames after which timers fire though the ports are not empty yet: more than a socket buffer holds. */
    private static final int DRAIN_LIMIT_FRAMES = 1 << 14;

    private static final int COLD_MASK = 15;

    private static final int LEADER_SPINS = 100;
    private static final long LEADER_PAUSE_NANOS = 20_000;

    /** How long the end of the process may be delayed by what is still to be sent. */
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
    private final Consumer<DrivenQueuePair> onDoorbell = this::onDoorbell;
    private final WaitCoordinator waitCoordinator;
    private final Receiver receiver;
    private final Transmitter transmitter;
    private final MadSender madSender;
    private final MulticastGroups groups = new MulticastGroups(this);
    private final Ports ports = new Ports();
    private long now;
    private int drainedFrames;

    /** Whether the last look for input found nothing. */
    private boolean isDry;

    /**
     * Creates an engine and starts its background thread.
     *
     * @param engines the process' engines
     * @param index which of them this is; 0 is the main one
     * @param links where its links come from; the engine owns them
     */
    Engine(Engines engines, int index, LinkSet links) {
        this.engines = engines;
        clock = engines.clock();
        this.index = index;
        this.links = links;
        now = clock.nanoTime();
        queuePairs = new QueuePairTable(engines.numbers(), index, engines.random()::nextInt);
        receiver = new Receiver(this);
        transmitter = new Transmitter(this);
        madSender = new MadSender(this);
        waitCoordinator = new WaitCoordinator(this, links, index == 0 ? "rdma4j-engine" : "rdma4j-engine-" + index);
        if (engines.driver() == null) {
            waitCoordinator.start();
        }
    }

    // ---- for whoever owns protocol state ----

    /** Takes the engine lock and reads the clock; {@link #unlock} follows. */
    public void lock() {
        lock.lock();
        now = clock.nanoTime();
    }

    /** Transmits what has become ready, and gives the engine lock back. */
    public void unlock() {
        try {
            if (lock.getHoldCount() == 1) {
                doorbells.take(onDoorbell);
                transmitter.run(now);
                noteDeadline();
            }
        } finally {
            lock.unlock();
        }
        serveDoorbells();
    }

    /** Whether this thread holds the engine lock. */
    public boolean isLocked() {
        return lock.isHeldByCurrentThread();
    }

    /** Time of the present duty cycle; under the engine lock. */
    public long nowNanos() {
        return now;
    }

    /** Sets, moves or (with {@link Long#MAX_VALUE}) takes back a deadline; under the engine lock. */
    public void schedule(DeadlineTask item, long deadlineNanos) {
        deadlines.schedule(item, deadlineNanos);
    }

    /** Forgets an item and its deadline; under the engine lock. */
    public void cancel(DeadlineTask item) {
        deadlines.remove(item);
    }

    /** Who serves queue pair 1 from now on; under the engine lock. */
    public void gsiHandler(GsiHandler handler) {
        receiver.gsiHandler(handler);
    }

    /** Sends management datagrams from queue pair 1; under the engine lock. */
    public MadSender madSender() {
        return madSender;
    }

    /** A message of the connection manager has come or gone: more will follow. Under the engine lock. */
    void noteManagement() {
        waitCoordinator.noteManagement();
    }

    /** Multicast groups that this process receives; under the engine lock. */
    public MulticastGroups groups() {
        return groups;
    }

    /** Returns the clock. */
    public StackClock clock() {
        return clock;
    }

    /** All engines of the process. */
    public Engines engines() {
        return engines;
    }

    /** Which of them this is. */
    public int index() {
        return index;
    }

    /** Whether this is the main engine, which does all that is not a queue pair's. */
    boolean isMain() {
        return index == 0;
    }

    /** Counters. */
    public EngineCounters counters() {
        return counters;
    }

    /** This process' share of queue pair numbers and communication IDs: their upper 8 bits. */
    public int slot() {
        return engines.sharing().slot();
    }

    /** How this process shares addresses and RDMA ports with others. */
    public Sharing sharing() {
        return engines.sharing();
    }

    /** Unpredictable numbers; any thread. */
    public RandomGenerator random() {
        return engines.random();
    }

    /** A thread other than the caller's, for checks whether memory is accessible to the engine. */
    public Thread backgroundThread() {
        return waitCoordinator.background();
    }

    // ---- ports ----

    /**
     * The port of a local address, opened if it was not yet. Any thread, without the engine lock.
     *
     * @throws io.rdma4j.verbs.RdmaException if UDP port 4791 of the address cannot be used
     */
    public Port openPort(InetAddress address) {
        SharedPort shared = engines.sharing().openPort(engines.main(), address);
        return isMain() ? shared : openSidePort(shared);
    }

    private Port openSidePort(SharedPort shared) {
        lock();
        try {
            Port known = findPort(shared.address());
            if (known != null) {
                return known;
            }
            QueuePairNumbers numbers = engines.numbers();
            SidePort port = SidePort.open(this, shared, numbers.first(index), numbers.last(index));
            addPort(port);
            return port;
        } finally {
            unlock();
        }
    }

    /**
     * Whether no process has UDP port 4791 of an address of this host, so that what is sent there gets no answer. Another
     * process may take it at any time. Any thread, without the engine lock.
     */
    public boolean isVacant(InetAddress address) {
        return engines.sharing().isVacant(this, address);
    }

    /** Adds a port that has been opened; under the engine lock. */
    void addPort(Port port) {
        ports.add(port);
    }

    /** The open port of a local address, or null; under the engine lock. */
    public @Nullable Port findPort(InetAddress address) {
        return ports.find(address);
    }

    /** The open port of a local address in GID form, or null; under the engine lock. */
    public @Nullable Port findPort(long high, long low) {
        return ports.find(high, low);
    }

    LinkSet links() {
        return links;
    }

    Receiver receiver() {
        return receiver;
    }

    // ---- queue pairs ----

    /** A queue pair number for a new queue pair, or -1 if there are too many; under the engine lock. */
    public int reserveQueuePairNumber() {
        return queuePairs.reserve(now);
    }

    /** Gives the number of a queue pair back that could not be made; under the engine lock. */
    public void releaseQueuePairNumber(int number) {
        queuePairs.release(number);
    }

    /** Lets the engine drive a queue pair whose number was reserved; under the engine lock. */
    public DrivenQueuePair addQueuePair(QueuePairMachine machine, Consumer<RuntimeException> onFailure) {
        DrivenQueuePair queuePair = new DrivenQueuePair(this, machine, onFailure);
        queuePairs.put(queuePair);
        return queuePair;
    }

    /**
     * Resets a queue pair, once what it may send now and what it owes its peer has left: a polled receive can still owe
     * its acknowledgement, and the peer would repeat its last message to nobody. Under the engine lock.
     */
    public void reset(DrivenQueuePair queuePair) {
        doorbells.take(onDoorbell);
        transmitter.run(now);
        // That gave every queue pair its turn, in which new data go first; the acknowledgement must not depend on it.
        queuePair.machine.abandon();
        transmitter.settle(queuePair, now);
        queuePair.machine.reset();
    }

    /** Drives a queue pair no more; under the engine lock. Its number stays unused for a minute. */
    public void removeQueuePair(DrivenQueuePair queuePair) {
        deadlines.remove(queuePair);
        queuePair.removed = true;
        queuePair.port = null;
        queuePairs.remove(queuePair.machine.number(), now + NUMBER_HOLD_OFF_NANOS);
    }

    /** See {@link Engines#breakQueuePairs}. */
    void breakQueuePairs() {
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
     * Sends what polling threads have left for their next cycle, which will not come: the process ends. Any thread; does
     * not wait long for a lock that may not come. The engine works on for other shutdown hooks, but no thread sleeps in
     * the kernel for it any more, because the Java virtual machine would wait for that.
     */
    void finish() {
        try {
            sendWhatIsLeft();
        } finally {
            waitCoordinator.end();
        }
    }

    /** Sends what is left, stops the background thread and closes the links. No thread may use the engine afterwards. */
    void close() {
        sendWhatIsLeft();
        waitCoordinator.close();
        lock.lock();
        try {
            links.close();
        } finally {
            lock.unlock();
        }
    }

    /** Sends what polling threads have left for their next duty cycle. Any thread; waits only briefly for the engine lock. */
    void sendWhatIsLeft() {
        try {
            if (!lock.tryLock(FINISH_NANOS, TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            now = clock.nanoTime();
            transmitAll();
        } finally {
            lock.unlock();
        }
    }

    private void transmitAll() {
        long giveUpNanos = clock.nanoTime() + FINISH_NANOS;
        do {
            doorbells.take(onDoorbell);
            transmitter.run(now);
        } while (transmitter.hasWork() && clock.nanoTime() - giveUpNanos < 0);
    }

    /** Queue pairs that the engine drives; under the engine lock. */
    public int queuePairCount() {
        return queuePairs.size();
    }

    // ---- between engines ----

    /** Takes a copy of a frame from another engine, for the next duty cycle; false if too many wait. Any thread. */
    boolean takeOver(SharedPort port, Frame frame) {
        boolean taken = crossEngineQueue.put(port, frame);
        // Put before the look: whoever goes to sleep says so before its last look at what was handed over.
        waitCoordinator.noteDeadline(clock.nanoTime());
        return taken;
    }

    /**
     * Takes all that has come, as far as it is no more than a socket's buffer holds; with the lock of the main engine or
     * none.
     */
    void takeAll() {
        lock();
        try {
            int frames = 0;
            int count;
            do {
                count = receive(true, true);
                frames += count;
            } while (count > 0 && frames < DRAIN_LIMIT_FRAMES);
        } finally {
            unlock();
        }
    }

    /** Whether frames of other engines wait. Any thread. */
    boolean isHandedSomething() {
        return !crossEngineQueue.isEmpty();
    }

    @Nullable
    DrivenQueuePair findQueuePair(int number) {
        return queuePairs.find(number);
    }

    /** Puts a queue pair in line to transmit; under the engine lock. */
    public void activate(DrivenQueuePair queuePair) {
        transmitter.activate(queuePair);
    }

    void refreshDeadline(DrivenQueuePair queuePair) {
        deadlines.schedule(queuePair, queuePair.machine.nextDeadlineNanos());
    }

    private void onDoorbell(DrivenQueuePair queuePair) {
        if (queuePair.removed) {
            return; // closed since it rang: nobody is to hear of it any more
        }
        if (queuePair.failRequested) {
            queuePair.failRequested = false; // it may be reset, and begin again
            queuePair.machine.toError();
        }
        queuePair.machine.flush();
        transmitter.activate(queuePair);
    }

    // ---- driving ----

    /**
     * Puts a queue pair into the error state: now, or by whoever is driving. Any thread, also with the lock of another
     * engine; does not wait.
     */
    public void failAsync(DrivenQueuePair queuePair) {
        queuePair.failRequested = true;
        post(queuePair);
        waitCoordinator.noteDeadline(clock.nanoTime());
    }

    /** Transmits what was posted to a queue pair: now, or by whoever is driving. Any thread; does not wait. */
    public void post(DrivenQueuePair queuePair) {
        if (lock.tryLock()) {
            try {
                now = clock.nanoTime();
                onDoorbell(queuePair);
                transmitter.run(now);
                noteDeadline();
            } finally {
                lock.unlock();
            }
        } else {
            doorbells.ring(queuePair);
        }
        serveDoorbells();
    }

    /**
     * Takes the doorbells that were rung while this thread held the lock. Who rings and then fails to get the lock relies
     * on this look after the release.
     */
    private void serveDoorbells() {
        while (!doorbells.isEmpty() && !lock.isHeldByCurrentThread() && lock.tryLock()) {
            try {
                now = clock.nanoTime();
                doorbells.take(onDoorbell);
                transmitter.run(now);
                noteDeadline();
            } finally {
                lock.unlock();
            }
        }
    }

    /** One duty cycle, unless another thread is at it; whether something came in. Any thread; does not wait. */
    public boolean poll() {
        // Threads that queue for the lock, to change something, would otherwise lose every race against a busy poller.
        if (lock.hasQueuedThreads() || !lock.tryLock()) {
            Thread.onSpinWait();
            return false;
        }
        boolean received;
        try {
            now = clock.nanoTime();
            counters.cycles++;
            waitCoordinator.notePoll(now);
            doorbells.take(onDoorbell);
            transmitter.run(now);
            received = receive((counters.cycles & COLD_MASK) == 0, false) > 0;
            runTimers();
            if (!received || waitCoordinator.isSomebodyAsleep()) {
                transmitter.run(now);
            }
            noteDeadline();
        } finally {
            lock.unlock();
        }
        serveDoorbells();
        return received;
    }

    /**
     * Waits until something is so, driving the engine meanwhile or leaving that to another thread that waits.
     *
     * @param signal raised by whoever may make {@code done} true
     * @param done cheap, callable by any thread at any time
     * @param deadlineNanos time of the {@link #clock} to give up at, or {@link Long#MAX_VALUE}
     * @return whether it is so; false when the time is over or the thread is interrupted (its flag stays set)
     * @throws IllegalStateException if the caller holds the engine lock
     */
    public boolean await(Signal signal, BooleanSupplier done, long deadlineNanos) {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("a thread that holds the engine lock must not wait");
        }
        StackDriver driver = engines.driver();
        return driver == null
                ? waitCoordinator.await(signal, done, deadlineNanos)
                : awaitDriven(driver, done, deadlineNanos);
    }

    private boolean awaitDriven(StackDriver driver, BooleanSupplier done, long deadlineNanos) {
        while (!done.getAsBoolean()) {
            if (Thread.currentThread().isInterrupted()
                    || deadlineNanos != Long.MAX_VALUE && clock.nanoTime() - deadlineNanos >= 0) {
                return done.getAsBoolean();
            }
            driver.step(deadlineNanos);
        }
        return true;
    }

    /**
     * Returns the time of the next deadline, which is now while something is to be sent; {@link Long#MAX_VALUE} if there is
     * none. Any thread.
     */
    public long nextActivityNanos() {
        lock();
        try {
            return transmitter.hasWork() || !doorbells.isEmpty() ? now : nextDeadlineNanos();
        } finally {
            lock.unlock();
        }
    }

    /** Where the leader's cycle looks for input: each look is a system call. */
    enum Look {
        /** Nowhere, if the last look found nothing: what has come since keeps the leader from sleeping. */
        UNLESS_DRY,
        /** At all UDP links. */
        AT_LINKS,
        /** At them and at the channels of this host's processes. */
        EVERYWHERE
    }

    /** A duty cycle of the leader; true if it may sleep then, until the deadline that was published. */
    boolean leadCycle(BooleanSupplier done, Look look) {
        boolean sleep = false;
        lockToLead();
        try {
            now = clock.nanoTime();
            counters.cycles++;
            doorbells.take(onDoorbell);
            transmitter.run(now);
            int received = look == Look.UNLESS_DRY && isDry ? 0 : receive(true, look != Look.AT_LINKS);
            runTimers();
            if (!done.getAsBoolean()) {
                transmitter.run(now);
                sleep = received == 0 && !transmitter.hasWork();
                if (sleep) {
                    waitCoordinator.publishSleep(nextDeadlineNanos());
                }
            }
        } finally {
            lock.unlock();
        }
        serveDoorbells();
        return sleep;
    }

    /**
     * Takes the lock without standing in line for it: threads that poll step back for those that do, and a poller that
     * drives anyway shall not have to step back for each packet that wakes the leader.
     */
    private void lockToLead() {
        for (int tries = 0; !lock.tryLock(); tries++) {
            if (tries < LEADER_SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, LEADER_PAUSE_NANOS);
            }
        }
    }

    private void noteDeadline() {
        if (waitCoordinator.isSomebodyAsleep()) {
            waitCoordinator.noteDeadline(transmitter.hasWork() ? now : nextDeadlineNanos());
        }
    }

    private long nextDeadlineNanos() {
        return Math.min(Math.min(deadlines.nextDeadlineNanos(), groups.nextDeadlineNanos()), ports.nextDeadlineNanos());
    }

    /**
     * Takes a burst from each port and group; returns how many frames came.
     *
     * @param cold whether also from those where nothing has come for long
     * @param channels whether also from this host's processes, which otherwise has its turn now and then
     */
    private int receive(boolean cold, boolean channels) {
        int frames =
                groups.receive(now, cold) + crossEngineQueue.drain(now, receiver) + ports.receive(now, cold, channels);
        if (frames == 0 && cold) {
            frames = ports.receiveStray(now);
        }
        isDry = frames == 0;
        return frames;
    }

    /** Fires the timers that are due, once no packet waits that could have stopped them. */
    private void runTimers() {
        if (deadlines.nextDeadlineNanos() > now) {
            return;
        }
        int frames = receive(true, true);
        drainedFrames = frames == 0 ? 0 : drainedFrames + frames;
        while (frames > 0 && drainedFrames < DRAIN_LIMIT_FRAMES) {
            frames = receive(true, true);
            drainedFrames += frames;
        }
        drainedFrames = 0;
        deadlines.runDue(now);
    }

    /** A link with capture, trace and faults as this process was told to. */
    Link decorate(Link link) {
        return engines.decorator().decorate(link);
    }
}
