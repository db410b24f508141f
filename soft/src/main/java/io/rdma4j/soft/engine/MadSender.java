package io.rdma4j.soft.engine;

import io.rdma4j.link.SendBurst;
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
     * @param remoteHigh peer's address in GID form, upper half
     * @param remoteLow lower half
     * @param remoteScope interface index of a link-local address, else 0
     * @param trafficClass type of service or traffic class
     * @param mad memory with the {@value #MAD_BYTES} bytes of the datagram
     * @param offset the offset of the datagram
     */
    public void send(
            Port port,
            long remoteHigh,
            long remoteLow,
            int remoteScope,
            int trafficClass,
            MemorySegment mad,
            long offset) {
        burst.clear();
        burst.destination(remoteHigh, remoteLow, remoteScope, trafficClass);
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
        MemorySegment.copy(mad, offset, out, Bth.LENGTH + Deth.LENGTH, MAD_BYTES);
        burst.append(Bth.LENGTH + Deth.LENGTH + MAD_BYTES + Icrc.LENGTH);
        Frame frame = burst.frame(0);
        port.fillSource(frame);
        frame.identification = 0;
        icrc.seal(frame);
        engine.counters().sentPackets++;
        port.link().send(burst);
    }
}
