package io.rdma4j.soft.engine;

import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks what comes in and gives it to the queue pair it is for, or to the process it is for. What fails a check is
 * counted and dropped without a word, as every RoCEv2 device does. Under the engine lock; allocates nothing.
 */
final class Receiver implements CrossEngineQueue.Taker {
    /** Number of the general services queue pair. */
    static final int GSI_QUEUE_PAIR = 1;

    /** Destination of every datagram to a multicast group. */
    static final int MULTICAST_QUEUE_PAIR = 0xff_ffff;

    /** Queue key that every datagram to queue pair 1 must carry. */
    static final int GSI_QUEUE_KEY = 0x8001_0000;

    /** The only partition: the default one, of which this port is a full member. */
    private static final int PARTITION = 0x7fff;

    private final Engine engine;
    private final QueuePairNumbers numbers;
    private final EngineCounters counters;
    private final Packet packet = new Packet();
    private final Icrc icrc = new Icrc();
    private @Nullable GsiHandler gsiHandler;

    Receiver(Engine engine) {
        this.engine = engine;
        numbers = engine.engines().numbers();
        counters = engine.counters();
    }

    void gsiHandler(GsiHandler handler) {
        gsiHandler = handler;
    }

    /** Takes a frame that came to UDP port 4791 of this process. */
    void onFrame(long nowNanos, SharedPort port, Frame frame) {
        counters.receivedPackets++;
        if (parse(frame)) {
            route(nowNanos, port, frame);
        }
    }

    private void route(long nowNanos, SharedPort port, Frame frame) {
        int number = packet.destinationQueuePair();
        if (number == GSI_QUEUE_PAIR) {
            onGsi(nowNanos, port, frame, true);
            return;
        }
        int slot = Slot.ofQueuePairNumber(number);
        if (slot == engine.slot() || !port.relay(slot, frame)) {
            onQueuePair(nowNanos, port, number);
        }
    }

    /** Takes a frame that the process that owns the port has passed on: it is for this process. */
    void onRelayedFrame(long nowNanos, SharedPort port, Frame frame) {
        counters.receivedPackets++;
        if (!parse(frame)) {
            return;
        }
        int number = packet.destinationQueuePair();
        if (number == GSI_QUEUE_PAIR) {
            onGsi(nowNanos, port, frame, false);
        } else {
            onQueuePair(nowNanos, port, number);
        }
    }

    /** Takes a frame that came to a socket beside UDP port 4791's, which gets what is for one engine, and little else. */
    void onSteeredFrame(long nowNanos, SharedPort port, Frame frame) {
        counters.receivedPackets++;
        if (!parse(frame)) {
            return;
        }
        int number = packet.destinationQueuePair();
        if (numbers.isOwn(number) && numbers.engineOf(number) == engine.index()) {
            onQueuePair(nowNanos, port, number);
        } else {
            boolean _ = handOver(0, port, frame);
        }
    }

    private boolean handOver(int index, SharedPort port, Frame frame) {
        return engine.engines().handOver(index, port, frame, counters);
    }

    /** Takes a frame that another engine of this process has received; that one has counted it. */
    @Override
    public void onHandedOver(long nowNanos, SharedPort port, Frame frame) {
        if (!parse(frame)) {
            return;
        }
        if (engine.isMain()) {
            route(nowNanos, port, frame);
        } else {
            onQueuePair(nowNanos, port, packet.destinationQueuePair());
        }
    }

    /** Takes a frame that came to a multicast group: each queue pair that is attached gets it. */
    void onGroupFrame(long nowNanos, MulticastGroup group, Frame frame) {
        counters.receivedPackets++;
        if (!parse(frame)) {
            return;
        }
        if (packet.destinationQueuePair() != MULTICAST_QUEUE_PAIR) {
            counters.badQueuePairNumber++;
        } else if (packet.opcode().transport() != Opcode.Transport.UD) {
            counters.badTransport++;
        } else if ((packet.partitionKey() & 0x7fff) != PARTITION) {
            counters.badPartitionKey++;
        } else if (!icrc.verify(frame)) {
            counters.icrcErrors++;
        } else {
            for (int i = 0; i < group.size(); i++) {
                deliver(nowNanos, group.attached(i));
            }
        }
    }

    private boolean parse(Frame frame) {
        switch (packet.parse(frame)) {
            case OK -> {
                return true;
            }
            case TOO_SHORT -> counters.tooShort++;
            case UNKNOWN_OPCODE -> counters.badOpcode++;
            case BAD_VERSION -> counters.badVersion++;
            case TRUNCATED -> counters.truncated++;
        }
        return false;
    }

    private void onQueuePair(long nowNanos, SharedPort port, int number) {
        DrivenQueuePair queuePair = engine.findQueuePair(number);
        if (queuePair == null) {
            onUnknownNumber(port, number);
        } else if (packet.opcode().transport() != queuePair.machine.transport()) {
            counters.badTransport++;
        } else if ((packet.partitionKey() & 0x7fff) != PARTITION) {
            counters.badPartitionKey++;
        } else if (!icrc.verify(packet.frame())) {
            counters.icrcErrors++;
        } else if (!queuePair.receivesAt(port)) {
            counters.badDestination++;
        } else {
            deliver(nowNanos, queuePair);
        }
    }

    /** It may be another engine's. */
    private void onUnknownNumber(SharedPort port, int number) {
        int index = numbers.isOwn(number) ? numbers.engineOf(number) : engine.index();
        if (index == engine.index() || !handOver(index, port, packet.frame())) {
            counters.badQueuePairNumber++;
        }
    }

    private void deliver(long nowNanos, DrivenQueuePair queuePair) {
        counters.deliveredPackets++;
        QueuePairMachine machine = queuePair.machine;
        try {
            machine.onPacket(nowNanos, packet);
        } catch (RuntimeException e) {
            queuePair.fail(e);
        }
        engine.activate(queuePair);
    }

    /** A process that shared a port has ended, maybe without a word to its peers. */
    void onProcessGone(SharedPort port, int slot) {
        GsiHandler handler = gsiHandler;
        if (handler != null && slot != 0) {
            // What it had sent to queue pairs of other engines comes before the news, too.
            engine.engines().takeAllBeside();
            handler.onProcessGone(port, slot);
        }
    }

    /** What a process that shared a port has left, if there is who can end it. */
    void onLastWills(SharedPort port, List<CrashDisconnect> crashDisconnects) {
        GsiHandler handler = gsiHandler;
        if (handler != null && !crashDisconnects.isEmpty()) {
            handler.onLastWills(port, crashDisconnects);
        }
    }

    private void onGsi(long nowNanos, SharedPort port, Frame frame, boolean mayRelay) {
        if (packet.opcode().transport() != Opcode.Transport.UD) {
            counters.badTransport++;
        } else if ((packet.partitionKey() & 0x7fff) != PARTITION) {
            counters.badPartitionKey++;
        } else if (Deth.queueKey(packet.segment(), packet.dethOffset()) != GSI_QUEUE_KEY) {
            counters.badQueueKey++;
        } else if (!icrc.verify(frame)) {
            counters.icrcErrors++;
        } else if (!mayRelay || port.routeGsi(packet)) {
            counters.gsiPackets++;
            engine.noteManagement();
            GsiHandler handler = gsiHandler;
            if (handler != null) {
                handler.onGsiPacket(nowNanos, port, packet);
            }
        }
    }
}
