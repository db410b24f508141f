package io.rdma4j.soft.engine;

import io.rdma4j.transport.QueuePairMachine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A queue pair as the engine drives it: the protocol machine, the port it uses, and its places in the engine's lists. */
public final class DrivenQueuePair extends DeadlineTask {
    private static final VarHandle RUNG;

    static {
        try {
            RUNG = MethodHandles.lookup().findVarHandle(DrivenQueuePair.class, "rung", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Engine engine;
    final QueuePairMachine machine;
    private final Consumer<RuntimeException> onFailure;

    @Nullable
    Port port;

    /** For datagrams, where they may have come to; null where the queue pair looks at the destination itself. */
    private @Nullable Predicate<Port> receivesAt;

    long remoteHigh;
    long remoteLow;
    int remoteScope;
    int trafficClass;
    boolean active;

    /** Whether the engine drives it no more. */
    boolean removed;

    /** Whether the next look at what was posted finds it broken. */
    volatile boolean failRequested;

    @Nullable
    DrivenQueuePair nextActive;

    @SuppressWarnings("UnusedVariable") // read and written through RUNG
    private volatile int rung;

    @Nullable
    DrivenQueuePair nextRung;

    DrivenQueuePair(Engine engine, QueuePairMachine machine, Consumer<RuntimeException> onFailure) {
        this.engine = engine;
        this.machine = machine;
        this.onFailure = onFailure;
    }

    /** The protocol machine; under the engine lock, except for posting. */
    public QueuePairMachine machine() {
        return machine;
    }

    /** The port that packets leave from, or null before the path is known. */
    public @Nullable Port port() {
        return port;
    }

    /** Address of the peer in GID form, upper half; 0 before the path is known. Under the engine lock. */
    public long remoteHigh() {
        return remoteHigh;
    }

    /** Address of the peer in GID form, lower half. */
    public long remoteLow() {
        return remoteLow;
    }

    /** Says which way packets go; under the engine lock. */
    public void path(Port newPort, QueuePairMachine.Peer peer) {
        port = newPort;
        remoteHigh = peer.remoteHigh();
        remoteLow = peer.remoteLow();
        remoteScope = peer.remoteScope();
        trafficClass = peer.trafficClass();
    }

    /** Says at which ports datagrams to this queue pair are received; the predicate is asked for each packet. */
    public void receiveAt(Predicate<Port> ports) {
        receivesAt = ports;
    }

    boolean receivesAt(Port from) {
        Predicate<Port> ports = receivesAt;
        return ports == null || ports.test(from);
    }

    boolean ring() {
        return RUNG.compareAndSet(this, 0, 1);
    }

    void unring() {
        RUNG.setVolatile(this, 0);
    }

    @Override
    protected void onDeadline(long nowNanos) {
        try {
            machine.onDeadline(nowNanos);
        } catch (RuntimeException e) {
            fail(e);
        }
        engine.activate(this);
    }

    /** Gives the queue pair up, since memory under it went away or the machine failed: the engine must go on. */
    void fail(RuntimeException cause) {
        engine.counters().queuePairFailures++;
        onFailure.accept(cause);
    }
}
