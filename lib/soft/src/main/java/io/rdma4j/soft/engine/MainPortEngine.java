package io.rdma4j.soft.engine;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.sharing.FrameReceiver;
import io.rdma4j.sharing.HostPort;
import io.rdma4j.sharing.PortEngine;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.soft.events.PortOwnershipEvent;
import io.rdma4j.verbs.wait.Signal;
import java.util.function.LongConsumer;

/** The main engine's interface for ports that are shared with other processes. Used under the engine lock. */
final class MainPortEngine implements PortEngine {
    private final Engine engine;
    private final Signal progress;

    /**
     * Creates the view of an engine.
     *
     * @param progress wakes the threads that wait for other processes
     */
    MainPortEngine(Engine engine, Signal progress) {
        this.engine = engine;
        this.progress = progress;
    }

    @Override
    public long nowNanos() {
        return engine.nowNanos();
    }

    @Override
    public Timer timer(LongConsumer task) {
        DeadlineTask item = new DeadlineTask() {
            @Override
            protected void onDeadline(long nowNanos) {
                task.accept(nowNanos);
            }
        };
        return deadlineNanos -> engine.schedule(item, deadlineNanos);
    }

    @Override
    public LinkSet links() {
        return engine.links();
    }

    @Override
    public LinkDecorator decorator() {
        return engine.engines().decorator();
    }

    @Override
    public FrameReceiver receiver() {
        return engine.receiver();
    }

    @Override
    public void receivePendingOfOthers() {
        engine.engines().receivePendingOfOthers();
    }

    @Override
    public void onProgress() {
        progress.raise();
    }

    @Override
    public void onRole(HostPort port) {
        if (FlightEvents.isOn()) {
            PortOwnershipEvent event = new PortOwnershipEvent();
            event.address = FlightEvents.address(port.address());
            event.role = port.roleName();
            event.slot = port.slot();
            event.commit();
        }
    }
}
