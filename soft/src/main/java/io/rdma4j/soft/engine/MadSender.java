package io.rdma4j.soft.engine;

import io.rdma4j.link.SendBurst;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Sends management datagrams from queue pair 1 to the peer's queue pair 1. Used under the engine lock. */
public final class MadSender {
    /** The size of a management datagram. */
    public static final int MAD_BYTES = 256;

    private static final int DEFAULT_PARTITION_KEY = 0xffff;

    private final Engine engine;
    private final Icrc icrc = new Icrc();
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
    private int psn;

    MadSender(Engine engine) {
        this.engine = engine;
        psn = engine.random().nextInt() & 0xff_ffff;
    }

    /**
     * Sends a datagram, unreliably.
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
                out,
                0,
                Opcode.UD_SEND_ONLY.code(),
                false,
                0,
                DEFAULT_PARTITION_KEY,
                Receiver.GSI_QUEUE_PAIR,
                false,
                psn);
        psn = psn + 1 & 0xff_ffff;
        Deth.write(out, Bth.LENGTH, Receiver.GSI_QUEUE_KEY, Receiver.GSI_QUEUE_PAIR);
        MemorySegment.copy(datagram.mad(), 0, out, Bth.LENGTH + Deth.LENGTH, MAD_BYTES);
        burst.append(Bth.LENGTH + Deth.LENGTH + MAD_BYTES + Icrc.LENGTH);
        Frame frame = burst.frame(0);
        port.fillSource(frame);
        frame.identification = 0;
        icrc.seal(frame);
        engine.counters().sentPackets++;
        port.link().send(burst);
        engine.noteManagement();
    }
}
