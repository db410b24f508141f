package io.rdma4j.transport;

import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Feth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import java.util.HexFormat;
import java.util.List;

/** A responder and its memory, for tests that deliver hand-made requests. */
abstract class ResponderFixture {
    static final int PSN = 0x1000;
    static final int MTU = 1024;

    final Pair pair = new Pair();
    final MemoryRegion remote = pair.b.register(8192);

    /** Returns a packet of a message of {@code total} bytes, addressed to the start of B's memory. */
    Pair.WirePacket packet(Opcode opcode, int psn, int payload, int total) {
        Pair.WirePacket w = Pair.forge(true, opcode, psn, true, payload);
        if (opcode.hasReth()) {
            Reth.write(w.segment(), opcode.rethOffset(), remote.address(), remote.key(), total);
        } else if (opcode.hasAtomicEth()) {
            AtomicEth.write(w.segment(), Bth.LENGTH, remote.address(), remote.key(), 1, 0);
        }
        if (opcode.isFlush()) {
            Feth.write(
                    w.segment(), opcode.extensionOffset(), PlacementType.GLOBAL.bit(), SelectivityLevel.RANGE.code());
        }
        return w;
    }

    /** Delivers a packet to B and returns the packets that B sends in response. */
    List<String> responsesTo(Pair.WirePacket w) {
        int before = pair.trace.size();
        pair.deliver(w);
        pair.pump(pair.b);
        return pair.traceLines().subList(before, pair.trace.size());
    }

    /** Returns the bytes of a packet without its ICRC, in hexadecimal. */
    static String hex(Pair.WirePacket w) {
        return HexFormat.of().formatHex(w.bytes(), 0, w.bytes().length - Packet.ICRC_LENGTH);
    }

    static List<String> nak(int syndrome, int psn) {
        return List.of("B ACKNOWLEDGE " + psn + " " + Integer.toHexString(syndrome));
    }
}
