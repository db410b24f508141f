package io.rdma4j.soft;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.host.SingleInterfaceNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.soft.options.SecurityOptions;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;

/** Hosts on a network in memory, with a clock that advances by a step whenever it is read. Used by one thread. */
final class SteppedHosts implements StackClock, StackDriver, AutoCloseable {
    private static final int MTU_BYTES = 4500;

    final MemoryNetwork network = new MemoryNetwork(MTU_BYTES);
    private final List<SoftStack> stacks = new ArrayList<>();
    private final long stepNanos;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private long nowNanos;

    SteppedHosts(long stepNanos) {
        this.stepNanos = stepNanos;
    }

    /** Returns an endpoint on a new host. */
    TestEndpoint endpoint(String name, String addressText) {
        InetAddress address = InetAddress.ofLiteral(addressText);
        RunDirectory directory = RunDirectory.ofVirtualHost(name);
        SoftStack stack = StackAccess.create(
                SoftStack.class,
                new StackSettings(
                        () -> LinkOptions.NONE,
                        () -> SecurityOptions.DEFAULT,
                        network::newLinkSet,
                        () -> directory,
                        new SingleInterfaceNetwork("eth0", address, MTU_BYTES),
                        this,
                        this,
                        new Random(1)));
        stacks.add(stack);
        return new TestEndpoint(stack.deviceOf(address).orElseThrow().open(), address);
    }

    @Override
    public long nanoTime() {
        nowNanos += stepNanos;
        return nowNanos;
    }

    @Override
    public long epochNanos() {
        return nowNanos;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void step(long limitNanos) {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        for (SoftStack stack : stacks) {
            StackAccess.devices(stack).runningEngineList().forEach(Engine::poll);
        }
    }

    @Override
    public void close() {
        stacks.forEach(SoftStack::close);
    }
}
