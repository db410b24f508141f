package io.rdma4j.soft.engine;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.sharing.FrameReceiver;
import io.rdma4j.sharing.Port;
import io.rdma4j.sharing.Slot;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.GsiPacket;
import org.jspecify.annotations.Nullable;

/**
 * Validates received frames and delivers them to their queue pair or relays them to their process.
 *
 * <p>Frames that fail a check are counted and silently dropped, like in every RoCEv2 device. Used under the engine lock;
 * allocates nothing.
 */
public final class Receiver implements FrameReceiver, CrossEngineQueue.FrameHandler {
    /** The destination queue pair of every datagram to a multicast group. */
    static final int MULTICAST_QUEUE_PAIR = 0xff_ffff;

    /** The only partition: the default one, of which this port is a full member. */
    private static final int PARTITION = 0x7fff;

    /** Selects one packet in 16, after which a slow duty cycle answers before it receives more. */
    private static final int ANSWER_MASK = 15;

    /** The length of an acknowledgement without its ICRC. */
    private static final int ACKNOWLEDGEMENT_BYTES = Bth.LENGTH + Aeth.LENGTH;

    /** The bits of an opcode that specify the transport service. */
    private static final int TRANSPORT_BITS = 0xe0;

    private final Engine engine;
    private final QueuePairNumbers numbers;
    private final EngineCounters counters;
    private final Packet packet = new Packet();
    private final Icrc icrc = new Icrc();
    private @Nullable ManagementHandler managementHandler;

    Receiver(Engine engine) {
        this.engine = engine;
        numbers = engine.engines().numbers();
        counters = engine.counters();
    }

    /** Sets the handler of packets to queue pair 1. */
    public void managementHandler(ManagementHandler handler) {
        managementHandler = handler;
    }

    /**
     * Returns the frame of a burst to process as number {@code i}. Frames keep their order, except for an acknowledgement right
     * after a message, which is processed first: a peer that replies sends both in one burst ({@link ReplyForecast}), the
     * acknowledgement last because it is shorter, which ends a segmented send. Programs expect the completion of their send
     * before the reply to it, which a network card ensures by acknowledging on its own. The two belong to opposite directions of
     * the connection, so that one may pass the other.
     */
    static Frame inOrder(ReceiveBurst burst, int i) {
        if (i + 1 < burst.count() && isPassed(burst.frame(i), burst.frame(i + 1))) {
            return burst.frame(i + 1);
        }
        if (i > 0 && isPassed(burst.frame(i - 1), burst.frame(i))) {
            return burst.frame(i - 1);
        }
        return burst.frame(i);
    }

    /** Returns whether {@code next} is an acknowledgement for the queue pair that {@code frame} has a message for. */
    private static boolean isPassed(Frame frame, Frame next) {
        if (next.length < ACKNOWLEDGEMENT_BYTES || next.length > ACKNOWLEDGEMENT_BYTES + Icrc.LENGTH) {
            return false;
        }
        int opcode = Bth.opcode(frame.segment, frame.offset);
        return frame.length >= ACKNOWLEDGEMENT_BYTES
                && Bth.opcode(next.segment, next.offset) == (opcode & TRANSPORT_BITS | Opcode.RC_ACKNOWLEDGE.code())
                && (opcode & ~TRANSPORT_BITS) <= Opcode.RC_WRITE_ONLY_IMMEDIATE.code()
                && Bth.destinationQueuePair(frame.segment, frame.offset)
                        == Bth.destinationQueuePair(next.segment, next.offset);
    }

    @Override
    public void onFrames(long nowNanos, Port port, ReceiveBurst burst) {
        for (int i = 0; i < burst.count(); i++) {
            onFrame(nowNanos, port, inOrder(burst, i));
        }
    }

    @Override
    public void onRelayedFrames(long nowNanos, Port port, ReceiveBurst burst) {
        for (int i = 0; i < burst.count(); i++) {
            onRelayedFrame(nowNanos, port, inOrder(burst, i));
        }
    }

    private void onFrame(long nowNanos, Port port, Frame frame) {
        counters.receivedPackets++;
        if (parse(frame)) {
            route(nowNanos, port, frame);
        }
    }

    private void route(long nowNanos, Port port, Frame frame) {
        int number = packet.destinationQueuePair();
        if (number == GsiPacket.QUEUE_PAIR) {
            onGsi(nowNanos, port, true);
            return;
        }
        int slot = Slot.ofQueuePairNumber(number);
        if (slot == engine.slot() || !port.relay(slot, frame)) {
            onQueuePair(nowNanos, port, number);
        }
    }

    private void onRelayedFrame(long nowNanos, Port port, Frame frame) {
        counters.receivedPackets++;
        if (!parse(frame)) {
            return;
        }
        int number = packet.destinationQueuePair();
        if (number == GsiPacket.QUEUE_PAIR) {
            onGsi(nowNanos, port, false);
        } else {
            onQueuePair(nowNanos, port, number);
        }
    }

    /**
     * Processes a frame that arrived at an additional socket of UDP port 4791, which receives the frames of one engine
     * and few others.
     */
    void onSteeredFrame(long nowNanos, Port port, Frame frame) {
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

    private boolean handOver(int index, Port port, Frame frame) {
        return engine.engines().handOver(index, port, frame, counters);
    }

    /** Processes a frame that another engine of this process has received and counted. */
    @Override
    public void onHandedOver(long nowNanos, Port port, Frame frame) {
        if (!parse(frame)) {
            return;
        }
        if (engine.isMain()) {
            route(nowNanos, port, frame);
        } else {
            onQueuePair(nowNanos, port, packet.destinationQueuePair());
        }
    }

    /**
     * Processes a frame that arrived at a multicast group.
     *
     * @param attached the queue pairs that receive it
     */
    public void onGroupFrame(long nowNanos, DrivenQueuePair[] attached, Frame frame) {
        counters.receivedPackets++;
        if (!parse(frame)) {
            return;
        }
        if (packet.destinationQueuePair() != MULTICAST_QUEUE_PAIR) {
            counters.badQueuePairNumber++;
        } else if (!isIntact(frame)) {
            counters.icrcErrors++;
        } else {
            for (DrivenQueuePair queuePair : attached) {
                if (!queuePair.blocks(packet)) {
                    deliver(nowNanos, queuePair);
                }
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

    private void onQueuePair(long nowNanos, Port port, int number) {
        DrivenQueuePair queuePair = engine.findQueuePair(number);
        if (queuePair == null) {
            onUnknownNumber(port, number);
        } else if (!isIntact(packet.frame())) {
            counters.icrcErrors++;
        } else if (!queuePair.receivesAt(port)) {
            counters.badDestination++;
        } else {
            deliver(nowNanos, queuePair);
        }
    }

    /** Returns whether the ICRC is correct. A frame that comes through memory of this host has none. */
    private boolean isIntact(Frame frame) {
        return !frame.isSealed || icrc.verify(frame);
    }

    /** Hands the packet over if the number belongs to another engine. */
    private void onUnknownNumber(Port port, int number) {
        int index = numbers.isOwn(number) ? numbers.engineOf(number) : engine.index();
        if (index == engine.index() || !handOver(index, port, packet.frame())) {
            counters.badQueuePairNumber++;
        }
    }

    private void deliver(long nowNanos, DrivenQueuePair queuePair) {
        counters.deliveredPackets++;
        queuePair.receivedBytes += packet.frame().length;
        engine.workFor(queuePair);
        try {
            queuePair.machine.onPacket(nowNanos, packet);
        } catch (RuntimeException | Error e) {
            queuePair.fail(e);
        }
        engine.activate(queuePair);
        if ((counters.deliveredPackets & ANSWER_MASK) == 0) {
            engine.answerIfLate();
        }
    }

    private void onGsi(long nowNanos, Port port, boolean mayRelay) {
        ManagementHandler handler = managementHandler;
        if (packet.opcode().transport() != Opcode.Transport.UD) {
            counters.badTransport++;
        } else if ((packet.partitionKey() & 0x7fff) != PARTITION) {
            counters.badPartitionKey++;
        } else if (handler != null) {
            handler.onPacket(nowNanos, port, packet, mayRelay);
        }
    }
}
