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
 * Validates received frames and delivers them to their queue pair or relays them to their process.
 *
 * <p>Frames that fail a check are counted and silently dropped, as by every RoCEv2 device. Used under the engine lock;
 * allocates nothing.
 */
final class Receiver implements CrossEngineQueue.FrameHandler {
    /** The number of the general services queue pair. */
    static final int GSI_QUEUE_PAIR = 1;

    /** The destination queue pair of every datagram to a multicast group. */
    static final int MULTICAST_QUEUE_PAIR = 0xff_ffff;

    /** The queue key that every datagram to queue pair 1 must carry. */
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

    /** Processes a frame that arrived at UDP port 4791 of this process. */
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

    /** Processes a frame for this process that was relayed by the owner of the port. */
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

    /**
     * Processes a frame that arrived at an additional socket of UDP port 4791, which receives the frames of one engine
     * and few others.
     */
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

    /** Processes a frame that another engine of this process has received and counted. */
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

    /** Processes a frame that arrived at a multicast group: each attached queue pair receives it. */
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

    /** Hands the packet over if the number belongs to another engine. */
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

    /** Reports the exit of a process that shared a port, which may not have disconnected its peers. */
    void onProcessExited(SharedPort port, int slot) {
        GsiHandler handler = gsiHandler;
        if (handler != null && slot != 0) {
            // Frames that it sent to queue pairs of other engines are delivered before the report, too.
            engine.engines().receivePendingOfOthers();
            handler.onProcessExited(port, slot);
        }
    }

    /** Passes the crash disconnects of a process that shared a port to the handler, if there is one. */
    void onCrashDisconnects(SharedPort port, List<CrashDisconnect> crashDisconnects) {
        GsiHandler handler = gsiHandler;
        if (handler != null && !crashDisconnects.isEmpty()) {
            handler.onCrashDisconnects(port, crashDisconnects);
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
            GsiHandler handler = gsiHandler;
            if (handler != null) {
                handler.onGsiPacket(nowNanos, port, packet);
            }
        }
    }
}
