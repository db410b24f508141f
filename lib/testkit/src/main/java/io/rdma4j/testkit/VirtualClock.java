package io.rdma4j.testkit;

import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a network in virtual time, and the driver of its engines. Time passes only in {@link #step}. Used by one
 * thread.
 */
final class VirtualClock implements StackClock, StackDriver {
    /** The time that a duty cycle of all engines takes. */
    private static final long CYCLE_NANOS = 1_000;

    /** 2026-01-01, a plausible time for captures. */
    private static final long EPOCH_NANOS = 1_767_225_600_000_000_000L;

    private final MemoryNetwork network;
    private final Supplier<List<SoftStack>> stacks;
    private long nowNanos;
    private boolean wasIdle;

    /** The thread in {@link #step}, or null. */
    private final AtomicReference<@Nullable Thread> stepping = new AtomicReference<>();

    private final Queue<Runnable> tasks = new ArrayDeque<>();

    VirtualClock(MemoryNetwork network, Supplier<List<SoftStack>> stacks) {
        this.network = network;
        this.stacks = stacks;
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public long epochNanos() {
        return EPOCH_NANOS + nowNanos;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void step(long limitNanos) {
        Thread current = Thread.currentThread();
        boolean isFirst = stepping.compareAndSet(null, current);
        if (!isFirst && !current.equals(stepping.get())) {
            throw new IllegalStateException("a network in virtual time belongs to one thread at a time: " + current
                    + " waits for it while " + stepping.get() + " does; use one thread, or real time");
        }
        try {
            stepOnce(limitNanos);
        } finally {
            if (isFirst) { // a task may wait, and therefore call step
                stepping.set(null);
            }
        }
    }

    private void stepOnce(long limitNanos) {
        runTasks();
        List<Engine> engines = new ArrayList<>();
        stacks.get().forEach(stack -> engines.addAll(StackAccess.devices(stack).runningEngineList()));
        boolean hadInput = false;
        boolean hadTimer = false;
        for (Engine engine : engines) {
            hadTimer |= engine.nextActivityNanos() <= nowNanos;
            hadInput |= engine.poll();
        }
        nowNanos += CYCLE_NANOS;
        // After a timer has fired, the caller checks its condition before time advances to the next timer.
        if (hadInput || hadTimer || network.hasInput() || !tasks.isEmpty()) {
            wasIdle = false;
            return;
        }
        long next = limitNanos;
        for (Engine engine : engines) {
            next = Math.min(next, engine.nextActivityNanos());
        }
        if (next < Long.MAX_VALUE) {
            wasIdle = false;
            nowNanos = Math.max(nowNanos, next);
        } else if (wasIdle) {
            throw new IllegalStateException(
                    "no stack has a timer or a packet, so nothing can happen. In virtual time one thread does"
                            + " all work: it cannot wait for another thread");
        } else {
            wasIdle = true; // this step may have fired the last timer, so the caller checks its condition first
        }
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
