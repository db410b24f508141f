package io.rdma4j.fuzz;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicAckEth;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Wire;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.dissector.Dissector;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * F1: a datagram to the RoCEv2 port, of any length and content, with a correct ICRC. The input is a byte that selects
 * the IP header, followed by the datagram.
 *
 * <p>Only the datagram is read, the parts of a packet fill it exactly, parsing and writing a header reproduces it, and
 * an ICRC is valid only for the sealed packet.
 */
public final class PacketTarget implements FuzzTarget {
    private final Frame frame = new Frame();
    private final Packet packet = new Packet();
    private final Icrc icrc = new Icrc();

    /** Creates the target. */
    public PacketTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        int choice = script.u8();
        byte[] datagram = script.rest();
        Captures.fill(frame, datagram);
        address(choice);
        Invariant.holds(!Dissector.line(frame).isEmpty(), "every datagram is dissected");
        if (packet.parse(frame) != Packet.Result.OK) {
            return;
        }
        checkParts(datagram.length);
        checkHeaders();
        Invariant.holds(GsiPacket.isGsi(packet) || !GsiPacket.isDeliverable(packet), "only queue pair 1 gets MADs");
        checkIcrc(datagram, choice);
    }

    private void address(int choice) {
        boolean isIpv4 = (choice & 1) == 0;
        frame.sourceHigh = isIpv4 ? 0 : 0xfe80_0000_0000_0000L;
        frame.sourceLow = isIpv4 ? Gid.ipv4Low(0x0a58_0001) : 1;
        frame.destinationHigh = frame.sourceHigh;
        frame.destinationLow = frame.sourceLow + 1;
        frame.identification = choice >>> 1;
        frame.sourcePort = 0xc000 | choice;
    }

    private void checkParts(int length) {
        Invariant.holds(packet.payloadLength() >= 0, "a payload length is not negative");
        Invariant.equal(
                packet.payloadOffset() + packet.payloadLength() + packet.padCount() + Packet.ICRC_LENGTH,
                length,
                "the parts of a packet fill it");
        Opcode opcode = packet.opcode();
        Invariant.holds(opcode.headerLength() <= packet.payloadOffset(), "the payload begins after the headers");
    }

    private void checkHeaders() {
        MemorySegment s = packet.segment();
        MemorySegment copy = MemorySegment.ofArray(new byte[AtomicEth.LENGTH]);
        Opcode opcode = packet.opcode();
        Bth bth = Bth.parse(s, 0);
        Invariant.equal(bth.psn(), packet.psn(), "PSN");
        Invariant.equal(bth.destinationQueuePair(), packet.destinationQueuePair(), "queue pair number");
        Invariant.holds(bth.acknowledgeRequest() == packet.acknowledgeRequest(), "acknowledge request");
        bth.emit(copy, 0);
        Invariant.holds(Bth.parse(copy, 0).equals(bth), "a written BTH is parsed to an equal one");
        if (opcode.hasDeth()) {
            Deth.parse(s, packet.dethOffset()).emit(copy, 0);
            Invariant.holds(Deth.parse(copy, 0).equals(Deth.parse(s, packet.dethOffset())), "DETH");
        }
        if (opcode.hasXrcEth()) {
            Invariant.equal(packet.sharedReceiveQueue() >>> 24, 0, "a shared receive queue has 24 bits");
        }
        if (opcode.hasReth()) {
            Reth.parse(s, packet.rethOffset()).emit(copy, 0);
            Invariant.equal(
                    copy.asSlice(0, Reth.LENGTH).mismatch(s.asSlice(packet.rethOffset(), Reth.LENGTH)), -1, "RETH");
        }
        if (opcode.hasAtomicEth()) {
            AtomicEth.parse(s, packet.atomicEthOffset()).emit(copy, 0);
            Invariant.equal(copy.mismatch(s.asSlice(packet.atomicEthOffset(), AtomicEth.LENGTH)), -1, "AtomicETH");
        }
        if (opcode.hasAeth()) {
            Aeth.parse(s, packet.aethOffset()).emit(copy, 0);
            Invariant.equal(
                    copy.asSlice(0, Aeth.LENGTH).mismatch(s.asSlice(packet.aethOffset(), Aeth.LENGTH)), -1, "AETH");
            Invariant.holds(!Dissector.syndrome(packet.syndrome()).isEmpty(), "every syndrome has a name");
        }
        if (opcode.hasAtomicAckEth()) {
            AtomicAckEth.parse(s, packet.atomicAckEthOffset()).emit(copy, 0);
        }
        if (opcode.hasImmediate()) {
            Invariant.equal(
                    packet.immediate(), Wire.u32(s, packet.payloadOffset() - 4), "immediate data is the last header");
        }
        if (opcode.hasIeth()) {
            Invariant.equal(packet.invalidateKey(), Wire.u32(s, packet.payloadOffset() - 4), "IETH is the last header");
        }
    }

    private void checkIcrc(byte[] datagram, int choice) {
        icrc.seal(frame);
        Invariant.holds(icrc.verify(frame), "a sealed packet verifies");
        if (frame.isIpv4()) {
            Invariant.equal(
                    icrc.recoverIdentification(frame), frame.identification, "the identification is in the ICRC");
        }
        int changed = Bth.LENGTH
                - 1
                + choice % (datagram.length - Bth.LENGTH + 1); // the last byte of the PSN, or a later one
        datagram[changed] ^= (byte) (1 << (choice & 7));
        Invariant.holds(!icrc.verify(frame), "a changed packet does not verify");
    }

    @Override
    public Stream<byte[]> seeds() {
        return Captures.frames()
                .map(f -> new ScriptWriter()
                        .u8(f.isIpv4() ? 0 : 1)
                        .rest(Captures.payload(f))
                        .bytes());
    }
}
