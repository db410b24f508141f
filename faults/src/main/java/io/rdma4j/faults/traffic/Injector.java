package io.rdma4j.faults.traffic;

import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Somebody who sends from any address and sees nothing, and who knows of two connections of the right host all but one thing
 * each time: WRITEs into the memory of one, answers to the work requests of the other, and ends of both, which come from
 * another UDP port, or from another address, or with a PSN that is guessed, or communication IDs that are.
 *
 * <p>Parameters {@code packets}, {@code perSecond}, {@code seed}; {@code served}, {@code servedPsn}, {@code address} and
 * {@code key} of the connection that is written to; {@code writing} and {@code writingPsn} of the one that writes. Says
 * {@code begun}, and {@code sent} when it has.
 */
public final class Injector implements Role {
    /** An address that is nobody's. */
    public static final String ELSEWHERE = "10.86.0.77";

    /** What it tries to write. */
    public static final long EVIL = 0xeeee_eeee_eeee_eeeeL;

    private static final int OTHER_PORT = 40_123;
    private static final int SWEEP = 1 << 20;

    /** How far from where the connection is the sweep begins: a quarter of all, and so the guess that fails. */
    private static final int FAR = 1 << 22;

    private static final int BURST = 32;
    private static final int LONGEST = 512;

    /** Packets that are only made, so that the first second is like all others. */
    private static final int WARM_UP = 20_000;

    private static final int[] SYNDROMES = {
        Aeth.ACK,
        Aeth.NAK_PSN_SEQUENCE_ERROR,
        Aeth.NAK_INVALID_REQUEST,
        Aeth.NAK_REMOTE_ACCESS_ERROR,
        Aeth.NAK_REMOTE_OPERATIONAL_ERROR,
        Aeth.RNR_NAK
    };

    private final byte[] packet = new byte[LONGEST];
    private final MemorySegment memory = MemorySegment.ofArray(packet);

    /** Where packets seem to come from. */
    private static final class Sender {
        private final DatagramChannel channel;
        private final Sealer sealer;

        Sender(String address, int port) throws IOException {
            InetAddress from = InetAddress.ofLiteral(address);
            InetAddress to = InetAddress.ofLiteral(TwoHosts.RIGHT);
            channel = DatagramChannel.open();
            channel.bind(new InetSocketAddress(from, port));
            channel.connect(new InetSocketAddress(to, Frame.UDP_PORT));
            sealer = new Sealer(from, port, to);
        }

        void send(byte[] packet, int length) throws IOException {
            sealer.seal(packet, length);
            channel.write(ByteBuffer.wrap(packet, 0, length));
        }
    }

    @Override
    public void play(Parent parent) throws IOException {
        SplittableRandom random = new SplittableRandom(parent.number("seed", 1));
        Sender peer = new Sender(TwoHosts.LEFT, Frame.UDP_PORT);
        Sender otherPort = new Sender(TwoHosts.LEFT, OTHER_PORT);
        Sender otherAddress = new Sender(ELSEWHERE, Frame.UDP_PORT);
        int served = (int) parent.number("served", 0);
        int servedPsn = (int) parent.number("servedPsn", 0);
        int writing = (int) parent.number("writing", 0);
        int writingPsn = (int) parent.number("writingPsn", 0);
        long address = parent.number("address", 0);
        int key = (int) parent.number("key", 0);
        long packets = parent.number("packets", 0);
        double nanosEach = 1e9 / parent.number("perSecond", 1);
        for (int i = 0; i < WARM_UP; i++) {
            peer.sealer.seal(packet, write(served, i, address, key));
            peer.sealer.seal(packet, answer(writing, i, i));
            peer.sealer.seal(packet, end(served, i, random));
        }
        parent.say("begun", 1);
        long begin = System.nanoTime();
        for (int i = 0; i < packets; i++) {
            int sweep = i % SWEEP;
            switch (i % 10) {
                case 0, 1, 2 -> peer.send(packet, write(served, servedPsn + FAR + sweep, address, key));
                case 3, 4 -> otherPort.send(packet, write(served, servedPsn + sweep, address, key));
                case 5 -> otherAddress.send(packet, write(served, servedPsn + sweep, address, key));
                case 6 -> otherPort.send(packet, answer(writing, writingPsn + sweep, i));
                case 7 -> peer.send(packet, answer(writing, writingPsn + FAR + sweep, i));
                case 8 -> otherAddress.send(packet, answer(writing, writingPsn + sweep, i));
                default -> peer.send(packet, end((i & 1) == 0 ? served : writing, i, random));
            }
            long early = begin + (long) (i * nanosEach) - System.nanoTime();
            if (i % BURST == 0 && early > 0) {
                LockSupport.parkNanos(early);
            }
        }
        parent.say("sent", (System.nanoTime() - begin) / 1_000_000);
    }

    private int write(int queuePair, int psn, long address, int key) {
        int payloadAt = Bth.LENGTH + Reth.LENGTH;
        Bth.write(
                memory,
                0,
                Opcode.RC_WRITE_ONLY.code(),
                false,
                0,
                GsiPacket.PARTITION_KEY,
                queuePair,
                true,
                psn & 0xff_ffff);
        Reth.write(memory, Bth.LENGTH, address, key, Long.BYTES);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, payloadAt, EVIL);
        return payloadAt + Long.BYTES + Icrc.LENGTH;
    }

    private int answer(int queuePair, int psn, int i) {
        Bth.write(
                memory,
                0,
                Opcode.RC_ACKNOWLEDGE.code(),
                false,
                0,
                GsiPacket.PARTITION_KEY,
                queuePair,
                false,
                psn & 0xff_ffff);
        Aeth.write(memory, Bth.LENGTH, SYNDROMES[i / 10 % SYNDROMES.length], 1);
        return Bth.LENGTH + Aeth.LENGTH + Icrc.LENGTH;
    }

    /** A message of connection management that ends a connection, for the process that has the queue pair. */
    private int end(int queuePair, int i, SplittableRandom random) {
        int receiver = queuePair >>> 16 << 24 | random.nextInt(1 << 24);
        CmMessage message = (i & 2) == 0
                ? new Dreq(random.nextInt(), receiver, queuePair, PrivateData.EMPTY)
                : Rej.of(
                        random.nextInt(),
                        receiver,
                        random.nextInt(3),
                        RejectReason.CONSUMER_DEFINED,
                        PrivateData.EMPTY);
        return GsiPacket.write(memory, 0, i & 0xff_ffff, random.nextLong(), message);
    }
}
