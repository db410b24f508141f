package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Sends for the queue pairs that have something to send, in turns of one full burst or few smaller ones, so that one with a
 * long message does not hold up the others. Under the engine lock; allocates nothing.
 */
final class Transmitter {
    /** Packets of one queue pair before it is another's turn; or as many as make a burst full. */
    private static final int TURN_PACKETS = 64;

    /** Packets of one run; then it is time to look for input again. */
    private static final int RUN_PACKETS = 256;

    /** What one datagram could hold over IPv6, since that bounds a segmented send. */
    private static final int BURST_BYTES = 65_535 - 48;

    /**
     * Bytes of one queue pair before it is another's turn, if no burst was full before: two messages of 64 KiB, whose first
     * packets are longer than those behind them and so begin new bursts.
     */
    private static final int TURN_BYTES = 2 * BURST_BYTES;

    private final Engine engine;
    private final Icrc icrc = new Icrc();
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), BURST_BYTES);

    private final ActiveQueue activeQueue = new ActiveQueue();

    /** Whether the queue pair whose turn it was may have more to send. */
    private boolean turnIsOver;

    /** Most frames of a burst, whether the identification counts them, and their source: of the port that frames leave from. */
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

    /** Puts a queue pair on the list, if it is not there. */
    void activate(DrivenQueuePair queuePair) {
        if (queuePair.active) {
            return;
        }
        queuePair.active = true;
        activeQueue.begin(queuePair);
    }

    /** Sends, until nothing is left or it is time to look for input. */
    void run(long nowNanos) {
        int budget = RUN_PACKETS;
        while (budget > 0 && hasWork()) {
            DrivenQueuePair queuePair = activeQueue.next();
            budget -= turn(queuePair, nowNanos);
            if (turnIsOver) {
                activeQueue.goOn(queuePair);
            } else {
                queuePair.active = false;
                flushIfFailed(queuePair);
                engine.refreshDeadline(queuePair);
            }
        }
    }

    /** Sends everything that one queue pair has, which must be little. */
    void settle(DrivenQueuePair queuePair, long nowNanos) {
        do {
            int _ = turn(queuePair, nowNanos);
        } while (turnIsOver);
    }

    /** Takes what was posted while the queue pair failed, by a thread that still saw it whole. */
    private static void flushIfFailed(DrivenQueuePair queuePair) {
        QueuePairMachine.State state = queuePair.machine.state();
        if (state == QueuePairMachine.State.ERROR || state == QueuePairMachine.State.SEND_QUEUE_ERROR) {
            VarHandle.fullFence();
            queuePair.machine.flush();
        }
    }

    /** Sends one turn's packets of one queue pair; returns how many. */
    private int turn(DrivenQueuePair queuePair, long nowNanos) {
        turnIsOver = false;
        if (queuePair.machine instanceof UdQueuePair datagrams) {
            return datagramTurn(queuePair, datagrams, nowNanos);
        }
        Port port = queuePair.port;
        if (port == null) {
            return 0;
        }
        burst.clear();
        burst.destination(queuePair.remoteHigh, queuePair.remoteLow, queuePair.remoteScope, queuePair.trafficClass);
        leaveFrom(port);
        int sent = 0;
        try {
            int left = TURN_BYTES;
            while (!turnIsOver) {
                int bytes = queuePair.machine.pollTransmit(nowNanos, burst.segment(), burst.tail());
                if (bytes == 0) {
                    break;
                }
                boolean wasFull = add(port, bytes + Icrc.LENGTH);
                left -= bytes;
                sent++;
                turnIsOver = wasFull || sent == TURN_PACKETS || left <= 0;
            }
        } catch (RuntimeException e) {
            queuePair.fail(e);
        }
        flush(port);
        return sent;
    }

    /** The same for datagrams, each of which may leave from another port for another destination. */
    private int datagramTurn(DrivenQueuePair queuePair, UdQueuePair datagrams, long nowNanos) {
        burst.clear();
        DatagramRoute route = null;
        int sent = 0;
        try {
            while (sent < TURN_PACKETS) {
                int bytes = datagrams.pollTransmit(nowNanos, burst.segment(), burst.tail());
                if (bytes == 0) {
                    break;
                }
                if (datagrams.destination() instanceof DatagramRoute next) {
                    if (route != null && !route.equals(next)) {
                        flushBefore(route.port(), bytes);
                    }
                    if (route == null || !route.port().equals(next.port())) {
                        leaveFrom(next.port());
                    }
                    route = next;
                    burst.destination(route.remoteHigh(), route.remoteLow(), route.remoteScope(), route.trafficClass());
                    boolean _ = add(route.port(), bytes + Icrc.LENGTH);
                }
                sent++;
            }
            turnIsOver = sent == TURN_PACKETS;
        } catch (RuntimeException e) {
            queuePair.fail(e);
        }
        if (route != null) {
            flush(route.port());
        }
        return sent;
    }

    private void leaveFrom(Port port) {
        Link link = port.link();
        maxSegments = link.capabilities().maxSegments();
        identificationCountsSegments = link.capabilities().identificationCountsSegments();
        sourceHigh = port.high();
        sourceLow = port.low();
        sourcePort = link.localAddress().getPort();
    }

    /**
     * Takes the packet of {@code bytes} at the burst's tail into the burst, and sends what cannot wait; whether that was a
     * full burst.
     */
    private boolean add(Port port, int bytes) {
        if (!burst.accepts(bytes)) {
            flushBefore(port, bytes - Icrc.LENGTH);
        }
        burst.append(bytes);
        int index = burst.count() - 1;
        Frame frame = burst.frame(index);
        frame.sourceHigh = sourceHigh;
        frame.sourceLow = sourceLow;
        frame.sourcePort = sourcePort;
        frame.identification = identificationCountsSegments ? index : 0;
        icrc.seal(frame);
        if (burst.hasRoom(maxSegments)) {
            return false;
        }
        boolean isFull = burst.count() >= maxSegments || burst.tail() > BURST_BYTES - SendBurst.MAX_FRAME_BYTES;
        flush(port);
        return isFull;
    }

    /** Sends the burst, and puts the packet of {@code bytes} behind its end in front of the next. */
    private void flushBefore(Port port, int bytes) {
        int from = burst.tail();
        flush(port);
        MemorySegment memory = burst.segment();
        MemorySegment.copy(memory, from, memory, burst.tail(), bytes);
    }

    private void flush(Port port) {
        if (burst.count() > 0) {
            engine.counters().sentPackets += burst.count();
            port.link().send(burst);
            burst.clear();
        }
    }
}
