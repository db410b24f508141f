package io.rdma4j.soft.engine;

import io.rdma4j.link.Flow;
import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Transmits for the queue pairs that have something to send, in quanta of one full burst or a few smaller ones.
 *
 * <p>A queue pair with a long message therefore does not hold up the others. Used under the engine lock; allocates nothing.
 */
final class Transmitter {
    /** The maximum number of packets in a quantum. */
    private static final int QUANTUM_PACKETS = 64;

    /** The maximum number of packets in a run, after which input is polled again. */
    private static final int RUN_PACKETS = 256;

    /** The maximum length of a datagram over IPv6, which limits a segmented send. */
    private static final int BURST_BYTES = 65_535 - 48;

    /**
     * The maximum number of bytes in a quantum without a full burst: two messages of 64 KiB. The first packet of each is longer
     * than the packets that follow it, and therefore starts a new burst.
     */
    private static final int QUANTUM_BYTES = 2 * BURST_BYTES;

    private final Engine engine;
    private final Icrc icrc = new Icrc();
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), BURST_BYTES);

    private final ActiveQueue activeQueue = new ActiveQueue();

    /** True if the last quantum was used up, so the queue pair may have more to send. */
    private boolean isQuantumUsedUp;

    /**
     * The maximum number of frames in a burst, whether the identification counts them, and their source: all properties of the
     * sending port.
     */
    private int maxSegments;

    private boolean identificationCountsSegments;
    private long sourceHigh;
    private long sourceLow;
    private int sourcePort;

    Transmitter(Engine engine) {
        this.engine = engine;
    }

    boolean hasWork() {
        return !activeQueue.isEmpty();
    }

    /** Queues a queue pair if it is not queued. */
    void activate(DrivenQueuePair queuePair) {
        if (queuePair.active) {
            return;
        }
        queuePair.active = true;
        activeQueue.addNew(queuePair);
    }

    /** Transmits until nothing is left or input must be polled again. */
    void run(long nowNanos) {
        int budget = RUN_PACKETS;
        while (budget > 0 && hasWork()) {
            DrivenQueuePair queuePair = activeQueue.next();
            engine.workFor(queuePair);
            try {
                budget -= transmit(queuePair, nowNanos);
            } catch (RuntimeException | Error e) {
                isQuantumUsedUp = false;
                budget--;
                queuePair.fail(e); // the rest of the burst is discarded with it
            }
            if (isQuantumUsedUp) {
                activeQueue.addContinuing(queuePair);
            } else {
                queuePair.active = false;
            }
        }
    }

    /** Transmits a quantum of one queue pair, and finishes its work of this cycle if that was all; returns the number of packets. */
    private int transmit(DrivenQueuePair queuePair, long nowNanos) {
        int sent = 0;
        isQuantumUsedUp = false;
        if (queuePair.isFailing()) {
            return sent;
        }
        if (!queuePair.holdsBack(nowNanos, QUANTUM_BYTES)) {
            sent = transmitQuantum(queuePair, nowNanos);
        }
        if (!isQuantumUsedUp) {
            flushIfFailed(queuePair);
            if (FlightEvents.isOn() && queuePair.hasRetransmissions()) {
                queuePair.reportRetransmissions();
            }
            engine.refreshDeadline(queuePair);
        }
        return sent;
    }

    /** Transmits everything that one queue pair has, which must not be much. */
    void settle(DrivenQueuePair queuePair, long nowNanos) {
        try {
            do {
                int _ = transmitQuantum(queuePair, nowNanos);
            } while (isQuantumUsedUp);
        } catch (RuntimeException | Error e) {
            queuePair.fail(e);
        }
    }

    /** Flushes the work that was posted while the queue pair failed, by a thread that had not seen the failure yet. */
    private static void flushIfFailed(DrivenQueuePair queuePair) {
        QueuePairState state = queuePair.machine.state();
        if (state == QueuePairState.ERROR || state == QueuePairState.SEND_QUEUE_ERROR) {
            VarHandle.fullFence();
            queuePair.machine.flush();
        }
    }

    /** Transmits a quantum of one queue pair; returns the number of packets. */
    private int transmitQuantum(DrivenQueuePair queuePair, long nowNanos) {
        isQuantumUsedUp = false;
        if (queuePair.machine instanceof UdQueuePair datagrams) {
            return transmitDatagramQuantum(queuePair, datagrams, nowNanos);
        }
        Port port = queuePair.port;
        if (port == null) {
            return 0;
        }
        burst.clear();
        burst.forOneQueuePair(true);
        int trafficClass = queuePair.trafficClass();
        burst.destination(queuePair.remoteHigh, queuePair.remoteLow, queuePair.remoteScope, trafficClass);
        burst.ipHeader(queuePair.hopLimit, queuePair.flowLabel);
        setSource(port, queuePair.flow.current(port));
        int sent = 0;
        int left = QUANTUM_BYTES;
        while (!isQuantumUsedUp) {
            int bytes = queuePair.machine.pollTransmit(nowNanos, burst.segment(), burst.tail());
            if (bytes == 0) {
                break;
            }
            boolean wasFull = add(queuePair, port, bytes + Icrc.LENGTH);
            left -= bytes;
            sent++;
            isQuantumUsedUp = wasFull || sent == QUANTUM_PACKETS || left <= 0;
        }
        flush(port);
        queuePair.sentBytes += QUANTUM_BYTES - left + sent * Icrc.LENGTH;
        return sent;
    }

    /** Transmits a quantum of datagrams, each of which may have its own port and destination. */
    private int transmitDatagramQuantum(DrivenQueuePair queuePair, UdQueuePair datagrams, long nowNanos) {
        burst.clear();
        burst.forOneQueuePair(false);
        DatagramRoute route = null;
        int sent = 0;
        while (sent < QUANTUM_PACKETS) {
            int bytes = datagrams.pollTransmit(nowNanos, burst.segment(), burst.tail());
            if (bytes == 0) {
                break;
            }
            if (datagrams.destination() instanceof DatagramRoute next) {
                if (!next.equals(route)) {
                    if (route != null) {
                        flushBefore(route.port(), bytes);
                    }
                    setRoute(queuePair, next);
                    route = next;
                }
                boolean _ = add(queuePair, next.port(), bytes + Icrc.LENGTH);
                queuePair.sentBytes += bytes + Icrc.LENGTH;
            }
            sent++;
        }
        isQuantumUsedUp = sent == QUANTUM_PACKETS;
        if (route != null) {
            flush(route.port());
        }
        return sent;
    }

    private void setRoute(DrivenQueuePair queuePair, DatagramRoute route) {
        burst.destination(route.remoteHigh(), route.remoteLow(), route.remoteScope(), route.trafficClass());
        burst.ipHeader(route.hopLimit(), route.flowLabel());
        Port port = route.port();
        boolean staysOnHost = staysOnHost(port);
        if (!queuePair.flow.isChosen() && !staysOnHost) {
            queuePair.flow.choose(port, false);
        }
        setSource(port, staysOnHost ? null : queuePair.flow.current(port));
    }

    /** Returns whether the burst is sent to its own source address, or from a loopback address. */
    private boolean staysOnHost(Port port) {
        return burst.destinationLow() == port.low() && burst.destinationHigh() == port.high()
                || port.address().isLoopbackAddress();
    }

    private void setSource(Port port, @Nullable Flow flow) {
        burst.flow(flow);
        Link link = port.link();
        maxSegments = link.capabilities().maxSegments();
        identificationCountsSegments = link.capabilities().identificationCountsSegments();
        sourceHigh = port.high();
        sourceLow = port.low();
        sourcePort = burst.sourcePort(link.localAddress().getPort());
    }

    /** Decides how a burst for one queue pair is sent; called for its first packet. */
    private void begin(DrivenQueuePair queuePair, Port port) {
        boolean needsIcrc = port.link().needsIcrc(burst);
        if (!needsIcrc) {
            burst.withoutIcrc();
        }
        if (!queuePair.flow.isChosen()) {
            queuePair.flow.choose(port, !needsIcrc || staysOnHost(port));
            setSource(port, queuePair.flow.current(port));
        }
    }

    /**
     * Appends the packet of {@code bytes} at the burst's tail to the burst, and sends a burst that cannot grow. Returns
     * true if that burst was full.
     */
    private boolean add(DrivenQueuePair queuePair, Port port, int bytes) {
        if (!burst.accepts(bytes)) {
            flushBefore(port, bytes - Icrc.LENGTH);
        }
        burst.append(bytes);
        int index = burst.count() - 1;
        if (index == 0 && burst.isForOneQueuePair()) {
            begin(queuePair, port);
        }
        if (burst.isSealed()) {
            seal(queuePair.machine, index);
        }
        if (burst.hasRoom(maxSegments)) {
            return false;
        }
        boolean isFull = burst.count() >= maxSegments || burst.tail() > BURST_BYTES - SendBurst.MAX_FRAME_BYTES;
        flush(port);
        return isFull;
    }

    private void seal(QueuePairMachine machine, int index) {
        Frame frame = burst.frame(index);
        frame.sourceHigh = sourceHigh;
        frame.sourceLow = sourceLow;
        frame.sourcePort = sourcePort;
        frame.identification = identificationCountsSegments ? index : 0;
        if (machine.sealsFlushesAsLinux() && Icrc.isFlush(frame)) {
            icrc.sealFlushAsLinux(frame);
        } else {
            icrc.seal(frame);
        }
    }

    /** Sends the burst, and moves the packet of {@code bytes} behind its end to the front of the next one. */
    private void flushBefore(Port port, int bytes) {
        int from = burst.tail();
        flush(port);
        MemorySegment memory = burst.segment();
        MemorySegment.copy(memory, from, memory, burst.tail(), bytes);
    }

    private void flush(Port port) {
        if (burst.count() > 0) {
            engine.counters().sentPackets += burst.count();
            try {
                port.link().send(burst);
            } catch (OutOfMemoryError e) {
                engine.counters().outputFaults++; // lost, like in a system that has no memory for a packet
            }
            burst.clear();
        }
    }
}
