package io.rdma4j.fuzz;

import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.host.SingleInterfaceNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.soft.sharing.RunDirectory;
import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.Random;

/**
 * A host with one device and one stack, whose packets pass through memory, and whose time passes only in {@link #cycle} and {@link
 * #passTime}. It has no threads and makes no system calls, so an input is executed fast, and has the same effect each time. Used by one
 * thread.
 */
final class VirtualHost implements StackClock, StackDriver {
    /** The time that a duty cycle takes. */
    private static final long CYCLE_NANOS = 1_000;

    private static final int MTU_BYTES = 9000;

    private final InetAddress address;
    private final SoftStack stack;
    private long nowNanos;

    VirtualHost(InetAddress address) {
        this.address = address;
        MemoryNetwork network = new MemoryNetwork(MTU_BYTES);
        RunDirectory directory = RunDirectory.ofVirtualHost("fuzz");
        stack = new SoftStack(new StackSettings(
                () -> LinkOptions.NONE,
                () -> SecurityOptions.DEFAULT,
                network::newLinkSet,
                () -> directory,
                new SingleInterfaceNetwork("eth0", address, MTU_BYTES),
                this,
                this,
                new Random(1)));
    }

    Device device() {
        return stack.deviceOf(address).orElseThrow();
    }

    /** Returns the number of queue pairs that exist. */
    int queuePairCount() {
        Engine engine = stack.internals().engine();
        engine.lock();
        try {
            return engine.queuePairCount();
        } finally {
            engine.unlock();
        }
    }

    /** Returns how many queue pairs have failed by an internal error. */
    long queuePairFailures() {
        return stack.internals().engine().engines().counters().queuePairFailures;
    }

    /** Lets each engine run a duty cycle. */
    void cycle() {
        nowNanos += CYCLE_NANOS;
        stack.internals().runningEngineList().forEach(Engine::poll);
    }

    /** Lets each engine run a duty cycle, and then the time pass to the next timer, if there is one. */
    void passTime() {
        step(Long.MAX_VALUE);
    }

    @Override
    public void step(long limitNanos) {
        cycle();
        long next = limitNanos;
        for (Engine engine : stack.internals().runningEngineList()) {
            next = Math.min(next, engine.nextActivityNanos());
        }
        if (next < Long.MAX_VALUE) {
            nowNanos = Math.max(nowNanos, next);
        }
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public long epochNanos() {
        return nowNanos;
    }
}
