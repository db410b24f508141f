package io.rdma4j.soft.engine;

import io.rdma4j.sharing.Port;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.transport.QueuePairCounters;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Ecn;
import io.rdma4j.wire.Packet;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A queue pair that an engine drives: protocol machine, port, and links in the engine's lists. */
public final class DrivenQueuePair extends DeadlineTask {
    /** The maximum time for which packets wait for a process of this host that does not read. */
    private static final long MAX_HOLD_NANOS = 200_000_000;

    /** The interval between attempts to report a failure for which there was no memory. */
    private static final long REPORT_AGAIN_NANOS = 10_000_000;

    /** The maximum number of attempts: a report that fails for another reason is given up after ten seconds. */
    private static final int MAX_REPORTS = 1_000;

    /** The interval at which to check whether the process has read. */
    private static final long HOLD_NANOS = 50_000;

    private static final VarHandle RUNG;

    static {
        try {
            RUNG = MethodHandles.lookup().findVarHandle(DrivenQueuePair.class, "rung", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Tests an address in the form of a GID. */
    @FunctionalInterface
    public interface AddressTest {
        /** Returns whether an address, given by both halves of its GID, is one of these. Called for each packet. */
        boolean test(long high, long low);
    }

    private final Engine engine;
    final QueuePairMachine machine;
    private final Consumer<Throwable> onFailure;

    @Nullable
    Port port;

    /** For datagrams, the ports at which they may arrive; null if the machine checks the destination itself. */
    private @Nullable Predicate<Port> receivesAt;

    /** The sources of multicast datagrams that this queue pair may have sent itself; null if it receives its own datagrams. */
    private @Nullable AddressTest blockedSources;

    long remoteHigh;
    long remoteLow;
    int remoteScope;
    private int trafficClass;
    int hopLimit;
    int flowLabel;

    /** The source port of the packets, chosen with the first one. */
    final QueuePairFlow flow;

    boolean active;

    /** True when the engine no longer drives it. */
    boolean removed;

    /** True if the next doorbell moves it to the error state. */
    volatile boolean failRequested;

    @Nullable
    DrivenQueuePair nextActive;

    /** The time since which packets are held back. */
    private long heldSinceNanos;

    /** The time at which to check again whether they can be sent; {@link Long#MAX_VALUE} if none are held back. */
    private long resumeNanos = Long.MAX_VALUE;

    /** The bytes of all frames that were sent, without IP and UDP headers. */
    long sentBytes;

    /** The bytes of all frames that were received, without IP and UDP headers. */
    long receivedBytes;

    /** The failure that has pending consequences, or null. */
    private @Nullable Throwable failure;

    private int reportsLeft;

    private final QueuePairCounters counters;

    /** The last value of {@link #retransmissionSum}; -1 if Flight Recorder was off when the queue pair was created. */
    private long observedSum = FlightEvents.isOn() ? 0 : -1;

    private @Nullable RetransmissionObserver retransmissions;

    @SuppressWarnings("UnusedVariable") // read and written through RUNG
    private volatile int rung;

    @Nullable
    DrivenQueuePair nextRung;

    DrivenQueuePair(Engine engine, QueuePairMachine machine, Consumer<Throwable> onFailure) {
        this.engine = engine;
        this.machine = machine;
        counters = machine.counters();
        this.onFailure = onFailure;
        flow = new QueuePairFlow(machine.number());
    }

    /** Returns the protocol machine. It is used under the engine lock, except for posting. */
    public QueuePairMachine machine() {
        return machine;
    }

    /** Returns the port that packets are sent from, or null before the path is known. */
    public @Nullable Port port() {
        return port;
    }

    /** Returns the upper half of the peer's address in GID form; 0 before the path is known. Under the engine lock. */
    public long remoteHigh() {
        return remoteHigh;
    }

    /** Returns the lower half of the peer's address in GID form. */
    public long remoteLow() {
        return remoteLow;
    }

    /** Returns the traffic class of the next packets of a connection. */
    int trafficClass() {
        return machine.isCongestionCapable() ? Ecn.capable(trafficClass) : trafficClass;
    }

    /** Sets the path of the packets; under the engine lock. */
    public void path(Port newPort, QueuePairMachine.Peer peer) {
        boolean isSamePeer = newPort.equals(port) && peer.remoteHigh() == remoteHigh && peer.remoteLow() == remoteLow;
        port = newPort;
        remoteHigh = peer.remoteHigh();
        remoteLow = peer.remoteLow();
        remoteScope = peer.remoteScope();
        trafficClass = peer.trafficClass();
        hopLimit = peer.hopLimit();
        flowLabel = peer.flowLabel();
        flow.connect(peer, machine.number(), isSamePeer);
    }

    /** Sets the ports at which datagrams to this queue pair are received. The predicate is called for each packet. */
    public void receiveAt(Predicate<Port> ports) {
        receivesAt = ports;
    }

    /**
     * Drops the datagrams that this queue pair has sent to a group.
     *
     * @param ownAddresses the addresses that it sends from
     */
    public void blockMulticastLoopback(AddressTest ownAddresses) {
        blockedSources = ownAddresses;
    }

    /** Returns whether a datagram to a group comes from this queue pair and must be dropped. */
    boolean blocks(Packet packet) {
        AddressTest own = blockedSources;
        return own != null
                && packet.opcode().hasDeth()
                && Deth.sourceQueuePair(packet.segment(), packet.dethOffset()) == machine.number()
                && own.test(packet.frame().sourceHigh, packet.frame().sourceLow);
    }

    boolean receivesAt(Port from) {
        Predicate<Port> ports = receivesAt;
        return ports == null || ports.test(from);
    }

    /** Returns the bytes of all frames that were sent, from BTH to ICRC. Other threads may read a stale value. */
    public long sentBytes() {
        return sentBytes;
    }

    /** Returns the bytes of all frames that were received, from BTH to ICRC. Other threads may read a stale value. */
    public long receivedBytes() {
        return receivedBytes;
    }

    /** Returns whether there are unreported retransmissions, timeouts or RNR NAKs. Cheap; under the engine lock. */
    boolean hasRetransmissions() {
        return retransmissionSum() != observedSum;
    }

    private long retransmissionSum() {
        QueuePairCounters c = counters;
        return c.retransmittedPackets + c.timeouts + c.receivedRnrNaks + c.sentRnrNaks;
    }

    /** Reports retransmissions, timeouts and RNR NAKs to Flight Recorder, which must be on; under the engine lock. */
    void reportRetransmissions() {
        boolean isComplete = observedSum >= 0;
        observedSum = retransmissionSum();
        RetransmissionObserver observer = retransmissions;
        if (observer == null) {
            observer = new RetransmissionObserver(this);
            retransmissions = observer;
            if (!isComplete) {
                observer.remember(); // what happened before the recording is not reported
            }
        }
        observer.report();
    }

    boolean ring() {
        return RUNG.compareAndSet(this, 0, 1);
    }

    void unring() {
        RUNG.setVolatile(this, 0);
    }

    /**
     * Returns whether packets must wait, because their destination process on this host has not read earlier packets. Only an
     * unreliable connection waits, since its messages are never retransmitted; a reliable connection has a window. It waits for
     * at most {@value #MAX_HOLD_NANOS} ns; after that its packets are dropped, like those of other queue pairs.
     *
     * @param bytes the maximum number of bytes that would be sent
     */
    boolean holdsBack(long nowNanos, int bytes) {
        if (!(machine instanceof UcQueuePair connected) || hasRoom(connected, bytes)) {
            resumeNanos = Long.MAX_VALUE;
            return false;
        }
        if (resumeNanos == Long.MAX_VALUE) {
            heldSinceNanos = nowNanos;
        }
        resumeNanos = nowNanos + HOLD_NANOS;
        return nowNanos - heldSinceNanos < MAX_HOLD_NANOS;
    }

    private boolean hasRoom(UcQueuePair connected, int bytes) {
        Port from = port;
        QueuePairMachine.Peer peer = connected.peer();
        return from == null
                || peer == null
                || connected.sendQueue().isEmpty()
                || from.link().hasRoom(remoteHigh, remoteLow, peer.queuePairNumber(), bytes);
    }

    long nextDeadlineNanos() {
        return Math.min(machine.nextDeadlineNanos(), resumeNanos);
    }

    @Override
    protected void onDeadline(long nowNanos) {
        engine.workFor(this);
        try {
            if (failure == null) {
                machine.onDeadline(nowNanos);
            } else {
                completeFailure();
            }
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        engine.activate(this);
    }

    /** Forgets a failure with pending consequences, because the queue pair is reset. */
    void forgetFailure() {
        failure = null;
    }

    /** Returns whether the queue pair has failed, and consequences of the failure are still pending. */
    boolean isFailing() {
        return failure != null;
    }

    /**
     * Moves the queue pair to the error state, because code that ran for it threw an exception or Error. Its machine does not
     * continue the interrupted work. Never throws: without memory, the rest is done later.
     */
    void fail(Throwable cause) {
        if (removed) {
            return;
        }
        if (failure == null) {
            engine.counters().queuePairFailures++;
            failure = cause;
            reportsLeft = MAX_REPORTS;
        }
        completeFailure();
    }

    private void completeFailure() {
        Throwable cause = failure;
        if (cause == null) {
            return;
        }
        try {
            machine.toError();
            onFailure.accept(cause);
            failure = null;
        } catch (RuntimeException | Error again) {
            failure = --reportsLeft > 0 ? cause : null;
        }
        engine.schedule(this, failure == null ? Long.MAX_VALUE : engine.nowNanos() + REPORT_AGAIN_NANOS);
    }
}
