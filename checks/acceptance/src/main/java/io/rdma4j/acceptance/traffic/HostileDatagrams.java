package io.rdma4j.acceptance.traffic;

import io.rdma4j.fuzz.Captures;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Wire;
import io.rdma4j.wire.cm.GsiPacket;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Packets that no correct peer sends. They are:
 *
 * <ul>
 * <li>every opcode at every length up to 64 bytes;
 * <li>padding and lengths that contradict the packet, and addresses that wrap around;
 * <li>management datagrams of every length;
 * <li>packets captured from Linux, truncated at each byte.
 * </ul>
 */
public final class HostileDatagrams {
    private static final int LONGEST_SHORT = 64;
    private static final int OPCODES = 256;
    private static final int MANAGEMENT_LENGTHS = 512;
    private static final int PARTITION = 0xffff;
    private static final int INVALID_KEY = 0xdead_beef;
    private static final long[] ADDRESSES = {0, -16, 1, Long.MIN_VALUE};

    /**
     * DMA lengths by number of padding bytes: one that wraps around with the address -16, the maximum, and one beyond
     * any message.
     */
    private static final int[] LENGTHS = {32, -1, 0x8000_0001, 0x8000_0001};

    private HostileDatagrams() {}

    /**
     * Returns all packets, without queue pair number, PSN and ICRC.
     *
     * @param maxTruncated maximum number of truncated packets, selected evenly
     */
    public static List<byte[]> all(int maxTruncated) {
        List<byte[]> all = new ArrayList<>();
        ofEveryOpcodeAndLength().forEach(all::add);
        malformed().forEach(all::add);
        managementOfEveryLength().forEach(all::add);
        List<byte[]> truncated = truncated().toList();
        int step = Math.max(1, truncated.size() / maxTruncated);
        for (int i = 0; i < truncated.size(); i += step) {
            all.add(truncated.get(i));
        }
        return all;
    }

    /**
     * Returns whether the packet is complete and addressed to queue pair 1, and so must not be passed to {@link #aim}.
     */
    public static boolean isManagement(byte[] packet) {
        return isComplete(packet) && Bth.destinationQueuePair(MemorySegment.ofArray(packet), 0) == GsiPacket.QUEUE_PAIR;
    }

    /** Returns whether the packet is long enough for a queue pair number, a PSN and an ICRC. */
    public static boolean isComplete(byte[] packet) {
        return packet.length >= Bth.LENGTH + Packet.ICRC_LENGTH;
    }

    /** Sets the queue pair number and the PSN of a complete packet. */
    public static void aim(byte[] packet, int queuePair, int psn) {
        MemorySegment s = MemorySegment.ofArray(packet);
        Wire.u24(s, 5, queuePair);
        Wire.u24(s, 9, psn);
    }

    private static Stream<byte[]> ofEveryOpcodeAndLength() {
        return IntStream.range(0, OPCODES)
                .boxed()
                .flatMap(opcode -> IntStream.rangeClosed(0, LONGEST_SHORT).mapToObj(length -> {
                    byte[] packet = new byte[length];
                    if (length >= Bth.LENGTH) {
                        Bth.write(MemorySegment.ofArray(packet), 0, opcode, false, 0, PARTITION, 2, true, 0);
                    } else if (length > 0) {
                        packet[0] = opcode.byteValue();
                    }
                    return packet;
                }));
    }

    private static Stream<byte[]> malformed() {
        return Arrays.stream(Opcode.values())
                .flatMap(opcode -> IntStream.range(0, LENGTHS.length)
                        .boxed()
                        .flatMap(pad -> Arrays.stream(ADDRESSES)
                                .mapToObj(address -> malformed(opcode, pad, address, LENGTHS[pad]))));
    }

    private static byte[] malformed(Opcode opcode, int pad, long address, int length) {
        byte[] packet = new byte[opcode.headerLength() + Packet.ICRC_LENGTH + (pad == 3 ? 2 : 0)];
        MemorySegment s = MemorySegment.ofArray(packet);
        Bth.write(s, 0, opcode.code(), true, pad, PARTITION, 2, true, 0);
        if (opcode.hasReth()) {
            Reth.write(s, opcode.extensionOffset(), address, INVALID_KEY, length);
        } else if (opcode.hasAtomicEth()) {
            AtomicEth.write(s, opcode.extensionOffset(), address, INVALID_KEY, 1, 1);
        }
        return packet;
    }

    private static Stream<byte[]> managementOfEveryLength() {
        return IntStream.range(0, MANAGEMENT_LENGTHS).mapToObj(length -> {
            int pad = -length & 3;
            byte[] packet = new byte[Bth.LENGTH + Deth.LENGTH + length + pad + Packet.ICRC_LENGTH];
            GsiPacket.writeHeaders(MemorySegment.ofArray(packet), 0, length);
            packet[1] |= (byte) (pad << 4);
            return packet;
        });
    }

    private static Stream<byte[]> truncated() {
        return Captures.frames().flatMap(frame -> {
            byte[] complete = Captures.payload(frame);
            return IntStream.range(0, complete.length).mapToObj(length -> Arrays.copyOf(complete, length));
        });
    }
}
