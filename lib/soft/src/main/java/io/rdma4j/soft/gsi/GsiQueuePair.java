package io.rdma4j.soft.gsi;

import io.rdma4j.link.SendBurst;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.EngineCounters;
import io.rdma4j.soft.engine.ManagementHandler;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.GsiPacket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Queue pair 1, the general services interface, which sends and receives management datagrams. Used under the engine
 * lock.
 */
public final class GsiQueuePair implements ManagementHandler {
    /** The size of a management datagram. */
    public static final int MAD_BYTES = 256;

    /** The queue key that every datagram to queue pair 1 must carry. */
    private static final int QUEUE_KEY = 0x8001_0000;

    private static final int DEFAULT_PARTITION_KEY = 0xffff;

    private final EngineCounters counters;
    private final Icrc icrc = new Icrc();
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
    private int psn;
    private @Nullable GsiHandler handler;

    private GsiQueuePair(Engine engine) {
        counters = engine.counters();
        psn = engine.random().nextInt() & 0xff_ffff;
    }

    /** Creates queue pair 1 of an engine, which passes its packets to it. Without the engine lock. */
    public static GsiQueuePair open(Engine engine) {
        GsiQueuePair opened = new GsiQueuePair(engine);
        engine.lock();
        try {
            engine.receiver().managementHandler(opened);
        } finally {
            engine.unlock();
        }
        return opened;
    }

    /** Sets the handler of the datagrams for this process. */
    public void handler(GsiHandler newHandler) {
        handler = newHandler;
    }

    @Override
    public void onPacket(long nowNanos, Port port, Packet packet, boolean mayRelay) {
        if (Deth.queueKey(packet.segment(), packet.dethOffset()) != QUEUE_KEY) {
            counters.badQueueKey++;
        } else if (packet.frame().isSealed && !icrc.verify(packet.frame())) {
            counters.icrcErrors++;
        } else if (!mayRelay || port.routeGsi(packet)) {
            counters.gsiPackets++;
            GsiHandler current = handler;
            if (current != null) {
                current.onGsiPacket(nowNanos, port, packet);
            }
        }
    }

    /**
     * Sends a datagram to the peer's queue pair 1, unreliably.
     *
     * @param port the port to send from
     * @param datagram the {@value #MAD_BYTES} bytes and the peer
     */
    public void send(Port port, CmDatagram datagram) {
        CmRoute route = datagram.route();
        burst.clear();
        burst.destination(route.remote().high(), route.remote().low(), route.scope(), datagram.trafficClass());
        MemorySegment out = burst.segment();
        Bth.write(
                out, 0, Opcode.UD_SEND_ONLY.code(), false, 0, DEFAULT_PARTITION_KEY, GsiPacket.QUEUE_PAIR, false, psn);
        psn = psn + 1 & 0xff_ffff;
        Deth.write(out, Bth.LENGTH, QUEUE_KEY, GsiPacket.QUEUE_PAIR);
        MemorySegment.copy(datagram.mad(), 0, out, Bth.LENGTH + Deth.LENGTH, MAD_BYTES);
        burst.append(Bth.LENGTH + Deth.LENGTH + MAD_BYTES + Icrc.LENGTH);
        Frame frame = burst.frame(0);
        port.fillSource(frame);
        frame.identification = 0;
        icrc.seal(frame);
        counters.sentPackets++;
        port.link().send(burst);
    }
}
