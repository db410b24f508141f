package io.rdma4j.soft.engine;

import io.rdma4j.link.LinkDecorator;
import io.rdma4j.link.LinkSet;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.wire.Frame;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The engines of a process, so that several threads can drive queue pairs at a time: each has a lock, sockets, timers and
 * a background thread of its own. All share the registered memory. Thread safe.
 *
 * <p>The {@link #main} one is always there. It serves the connection manager, other processes and multicast groups, and
 * drives what does not ask for another engine. The others are started at their first use.
 *
 * <p>Locks: a thread that holds the lock of the main engine may take that of another one, never the other way round, and
 * only such a thread may hold those of two others.
 */
public final class Engines implements AutoCloseable {
    /** Most engines: each takes a part of the process' queue pair numbers. */
    public static final int MOST = 8;

    private final Supplier<LinkSet> links;
    private final LinkDecorator decorator;
    private final Sharing sharing;
    private final StackClock clock;
    private final @Nullable StackDriver driver;
    private final RandomGenerator random;
    private final MemoryTable memory;
    private final QueuePairNumbers numbers;
    private final AtomicReferenceArray<Engine> started;
    private final Engine main;

    /**
     * Starts the main engine.
     *
     * @param count how many engines there can be, 1 to {@value #MOST}
     * @param links opens the links of an engine, which owns them then
     * @param decorator what to put around links
     * @param sharing how the process shares addresses with others
     * @param clock the clock of all engines
     * @param driver drives the engines in virtual time, or null for threads in real time
     * @param random unpredictable numbers; thread safe
     */
    public Engines(
            int count,
            Supplier<LinkSet> links,
            LinkDecorator decorator,
            Sharing sharing,
            StackClock clock,
            @Nullable StackDriver driver,
            RandomGenerator random) {
        if (count < 1 || count > MOST) {
            throw new IllegalArgumentException(count + " engines, not 1 to " + MOST);
        }
        this.links = links;
        this.decorator = decorator;
        this.sharing = sharing;
        this.clock = clock;
        this.driver = driver;
        this.random = random;
        memory = new MemoryTable(random::nextInt);
        numbers = new QueuePairNumbers(sharing.slot(), count);
        started = new AtomicReferenceArray<>(count);
        main = newEngine(0);
        started.set(0, main);
    }

    /** The engine that everything is driven by that does not ask for another. */
    public Engine main() {
        return main;
    }

    /** How many engines there can be. */
    public int count() {
        return numbers.engines();
    }

    /**
     * An engine, started if it was not yet.
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
            Engine made = new Engine(this, index, set);
            done = true;
            return made;
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

    /** All engines that were started, the main one first. */
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

    /** All registered memory. */
    public MemoryTable memory() {
        return memory;
    }

    /**
     * Returns when every engine has come to the end of the duty cycle it was in: what was taken away before, such as
     * registered memory, nobody uses any more. Without the lock of any engine but the main one.
     */
    public void settle() {
        for (Engine engine : all()) {
            engine.lock();
            engine.unlock();
        }
    }

    /** Lets all engines beside the main one take what has come for them; with the main one's lock. */
    void takeAllBeside() {
        for (Engine engine : all()) {
            if (!engine.isMain()) {
                engine.takeAll();
            }
        }
    }

    /** Most queue pairs that the main engine drives. */
    public int maxQueuePairs() {
        return QueuePairTable.maxQueuePairs(numbers.count(0));
    }

    /** Sums of all engines' counters. */
    public EngineCounters counters() {
        EngineCounters sums = new EngineCounters();
        for (Engine engine : all()) {
            sums.add(engine.counters());
        }
        return sums;
    }

    /**
     * Puts all queue pairs into the error state, so that none sends anything new any more, and sends what they owe; without
     * any engine's lock.
     */
    public void breakQueuePairs() {
        all().forEach(Engine::breakQueuePairs);
    }

    /** Sends what polling threads have left for their next cycle. */
    public void sendWhatIsLeft() {
        all().forEach(Engine::sendWhatIsLeft);
    }

    /** The process ends: see {@link Engine#finish}. */
    public void finish() {
        all().forEach(Engine::finish);
        sharing.socketFiles().removeAll();
    }

    /** Stops all engines and closes their links. Queue pairs must be closed before. */
    @Override
    public void close() {
        List<Engine> running = all();
        running.reversed().forEach(Engine::close);
        sharing.close();
    }

    QueuePairNumbers numbers() {
        return numbers;
    }

    Sharing sharing() {
        return sharing;
    }

    RandomGenerator random() {
        return random;
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
     * Gives a frame to the engine it is for, or drops it if that has no room. Any engine's thread.
     *
     * @param index the engine
     * @param port the main engine's port of the address that the frame came to
     * @param counters of the engine that gives
     * @return false if the engine is not running
     */
    boolean handOver(int index, SharedPort port, Frame frame, EngineCounters counters) {
        Engine engine = started.get(index);
        if (engine == null) {
            return false;
        }
        if (engine.takeOver(port, frame)) {
            counters.handedOverPackets++;
        } else {
            counters.handoverDrops++;
        }
        return true;
    }
}
