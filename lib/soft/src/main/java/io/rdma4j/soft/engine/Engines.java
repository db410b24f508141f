package io.rdma4j.soft.engine;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.verbs.spi.StackReserve;
import io.rdma4j.wire.Frame;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The engines of a process, which allow several threads to drive queue pairs at the same time (decision 022). Thread
 * safe.
 *
 * <p>Each engine has its own lock, sockets, timers and background thread. All share the registered memory. The {@link #main}
 * engine always exists. It serves the connection manager, other processes and multicast groups, and drives everything that does
 * not request another engine. The others are started on first use.
 *
 * <p>Lock order: a thread that holds the main engine's lock may take another engine's lock, but not the reverse. Only
 * such a thread may hold the locks of two other engines.
 */
public final class Engines implements AutoCloseable {
    /** The maximum number of engines: each has a range of the process' queue pair numbers. */
    public static final int MAX_ENGINES = 8;

    private final Supplier<LinkSet> links;
    private final LinkDecorator decorator;
    private final StackClock clock;
    private final @Nullable StackDriver driver;
    private final RandomGenerator random;
    private final MemoryTable memory;
    private final QueuePairNumbers numbers;
    private final AtomicReferenceArray<Engine> started;
    private final Engine main;
    private volatile Consumer<Throwable> deviceFaultHandler = fault -> {};

    /**
     * Starts the main engine.
     *
     * @param count the maximum number of engines, 1 to {@value #MAX_ENGINES}
     * @param links creates the links of an engine, which then owns them
     * @param decorator wraps the links
     * @param slot the upper 8 bits of the queue pair numbers
     * @param clock the clock of all engines
     * @param driver drives the engines in virtual time, or null for threads in real time
     * @param random unpredictable numbers; thread safe
     */
    public Engines(
            int count,
            Supplier<LinkSet> links,
            LinkDecorator decorator,
            int slot,
            StackClock clock,
            @Nullable StackDriver driver,
            RandomGenerator random) {
        if (count < 1 || count > MAX_ENGINES) {
            throw new IllegalArgumentException(count + " engines, not 1 to " + MAX_ENGINES);
        }
        this.links = links;
        this.decorator = decorator;
        this.clock = clock;
        this.driver = driver;
        this.random = random;
        memory = new MemoryTable(random::nextInt);
        numbers = new QueuePairNumbers(slot, count);
        started = new AtomicReferenceArray<>(count);
        main = newEngine(0);
        started.set(0, main);
    }

    /** Returns the engine that drives everything that does not request another one. */
    public Engine main() {
        return main;
    }

    /** Returns the maximum number of engines. */
    public int count() {
        return numbers.engines();
    }

    /**
     * Returns an engine, and starts it if necessary.
     *
     * @param index 0 to {@link #count} - 1; 0 is {@link #main}
     */
    public Engine engine(int index) {
        Engine running = started.get(index);
        return running != null ? running : start(index);
    }

    private Engine newEngine(int index) {
        LinkSet set = links.get();
        boolean done = false;
        try {
            Engine created = new Engine(this, index, set);
            done = true;
            return created;
        } finally {
            if (!done) {
                set.close();
            }
        }
    }

    private synchronized Engine start(int index) {
        Engine running = started.get(index);
        if (running == null) {
            running = newEngine(index);
            started.set(index, running);
        }
        return running;
    }

    /** Returns all engines that were started, the main one first. */
    public List<Engine> all() {
        List<Engine> all = new ArrayList<>();
        for (int i = 0; i < started.length(); i++) {
            Engine engine = started.get(i);
            if (engine != null) {
                all.add(engine);
            }
        }
        return all;
    }

    /** Returns all registered memory. */
    public MemoryTable memory() {
        return memory;
    }

    /**
     * Waits until every engine has finished its current duty cycle, so that no engine still uses objects that were removed
     * before, such as registered memory. The caller may hold the lock of the main engine only.
     */
    public void settle() {
        if (!main.isLocked()) {
            StackReserve.require();
        }
        for (Engine engine : all()) {
            engine.lockInner();
            engine.unlock();
        }
    }

    /** Makes all engines but the main one receive their pending frames; with the main engine's lock. */
    public void receivePendingOfOthers() {
        for (Engine engine : all()) {
            if (!engine.isMain()) {
                engine.receivePending();
            }
        }
    }

    /** Returns the maximum number of queue pairs that the main engine drives. */
    public int maxQueuePairs() {
        return QueuePairTable.maxQueuePairs(numbers.count(0));
    }

    /** Returns the sums of all engines' counters. */
    public EngineCounters counters() {
        EngineCounters sums = new EngineCounters();
        for (Engine engine : all()) {
            sums.add(engine.counters());
        }
        return sums;
    }

    /**
     * Moves all queue pairs to the error state, so that they send nothing new, and sends the responses that they owe their peers.
     * Without any engine's lock.
     */
    public void failQueuePairs() {
        all().forEach(Engine::failQueuePairs);
    }

    /**
     * Sets the handler of errors that belong to no queue pair. It is called with the lock of the engine that failed, after that
     * engine's queue pairs have failed; the queue pairs of other engines fail at the same time or soon after.
     */
    public void deviceFaultHandler(Consumer<Throwable> handler) {
        deviceFaultHandler = handler;
    }

    /** Fails all queue pairs of the device because an engine failed; with that engine's lock. Never throws. */
    void onDeviceFault(Engine failed, Throwable fault) {
        for (int i = 0; i < started.length(); i++) {
            Engine engine = started.get(i);
            if (engine != null) {
                engine.failAllSoon(fault);
            }
        }
        failed.failAll();
        try {
            deviceFaultHandler.accept(fault);
        } catch (RuntimeException | Error again) {
            // The queue pairs report their failure themselves.
            return;
        }
    }

    /** Sends the packets that polling threads left for their next cycle. */
    public void transmitPending() {
        all().forEach(Engine::transmitPending);
    }

    /** Prepares for the exit of the process; see {@link Engine#finish}. */
    public void finish() {
        all().forEach(Engine::finish);
    }

    /** Stops all engines and closes their links. Queue pairs must be closed before. */
    @Override
    public void close() {
        List<Engine> running = all();
        running.reversed().forEach(Engine::close);
    }

    QueuePairNumbers numbers() {
        return numbers;
    }

    RandomGenerator random() {
        return random;
    }

    /** Returns whether a driver runs the engines, in virtual time, in place of threads. */
    public boolean isDriven() {
        return driver != null;
    }

    @Nullable
    StackDriver driver() {
        return driver;
    }

    StackClock clock() {
        return clock;
    }

    /** Returns the decorator of all links. */
    public LinkDecorator decorator() {
        return decorator;
    }

    /**
     * Passes a frame to the engine of its queue pair, or drops it if that engine's queue is full. Any engine's thread.
     *
     * @param index the engine
     * @param port the main engine's port of the address that the frame arrived at
     * @param counters the counters of the engine that passes the frame
     * @return false if the engine is not running
     */
    boolean handOver(int index, Port port, Frame frame, EngineCounters counters) {
        Engine engine = started.get(index);
        if (engine == null) {
            return false;
        }
        if (engine.enqueue(port, frame)) {
            counters.handedOverPackets++;
        } else {
            counters.handoverDrops++;
        }
        return true;
    }
}
