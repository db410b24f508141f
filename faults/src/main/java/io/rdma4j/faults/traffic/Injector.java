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
 * another UDP port, or from another address, or with a PSN that is guessed, in answers a count of messages, or with
 * communication IDs that are.
 *
 * <p>Parameters {@code perSecond}, {@code seed}; {@code served}, {@code servedPsn}, {@code address} and
 * {@code key} of the connection that is written to; {@code writing} and {@code writingPsn} of the one that writes. Says
 * {@code begun}; sends for a second at each word {@code go}, or to a port that nobody has at the word {@code past}, and says
 * {@code sent} then: how many came to the right port in all.
 */
public final class Injector implements Role {
    /** An address that is nobody's. */
    public static final String ELSEWHERE = "10.86.0.77";

    /** What it tries to write. */
    public static final long EVIL = 0xeeee_eeee_eeee_eeeeL;

    private static final int OTHER_PORT = 40_123;

    /** Where nobody takes packets, for what they cost by themselves. */
    private static final int CLOSED_PORT = 4793;

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
        private final InetSocketAddress target;
        private final InetSocketAddress nobody;

        Sender(String address, int port) throws IOException {
            InetAddress from = InetAddress.ofLiteral(address);
            InetAddress to = InetAddress.ofLiteral(TwoHosts.RIGHT);
            channel = DatagramChannel.open();
            channel.bind(new InetSocketAddress(from, port));
            target = new InetSocketAddress(to, Frame.UDP_PORT);
            nobody = new InetSocketAddress(to, CLOSED_PORT);
            sealer = new Sealer(from, port, to);
        }

        void send(byte[] packet, int length, boolean isAimed) throws IOException {
            sealer.seal(packet, length);
            int _ = channel.send(ByteBuffer.wrap(packet, 0, length), isAimed ? target : nobody);
        }
    }

    /** What it knows. */
    private record Known(int served, int servedPsn, long address, int key, int writing, int writingPsn) {}

    /** Where its packets seem to come from. */
    private record Senders(Sender peer, Sender otherPort, Sender otherAddress) {}

    @Override
    public void run(Parent parent) throws IOException {
        SplittableRandom random = new SplittableRandom(parent.number("seed", 1));
        Senders senders = new Senders(
                new Sender(TwoHosts.LEFT, Frame.UDP_PORT),
                new Sender(TwoHosts.LEFT, OTHER_PORT),
                new Sender(ELSEWHERE, Frame.UDP_PORT));
        Known known = new Known(
                (int) parent.number("served", 0),
                (int) parent.number("servedPsn", 0),
                parent.number("address", 0),
                (int) parent.number("key", 0),
                (int) parent.number("writing", 0),
                (int) parent.number("writingPsn", 0));
        for (int i = 0; i < WARM_UP; i++) {
            senders.peer.sealer.seal(packet, write(known, i));
            senders.peer.sealer.seal(packet, answer(known, i, i, random));
            senders.peer.sealer.seal(packet, end(known, i, random));
        }
        parent.report("begun", 1);
        int perSecond = (int) parent.number("perSecond", 1);
        int sent = 0;
        for (String word = parent.nextCommand(); !word.equals("end"); word = parent.nextCommand()) {
            boolean isAimed = word.equals("go");
            long begin = System.nanoTime();
            for (int i = 0; i < perSecond; i++) {
                send(senders, known, sent + i, isAimed, random);
                long early = begin + i * 1_000_000_000L / perSecond - System.nanoTime();
                if (i % BURST == 0 && early > 0) {
                    LockSupport.parkNanos(early);
                }
            }
            sent += isAimed ? perSecond : 0;
            parent.report("sent", sent);
        }
    }

    private void send(Senders senders, Known known, int i, boolean isAimed, SplittableRandom random)
            throws IOException {
        int sweep = i % SWEEP;
        switch (i % 10) {
            case 0, 1, 2 -> senders.peer.send(packet, write(known, FAR + sweep), isAimed);
            case 3, 4 -> senders.otherPort.send(packet, write(known, sweep), isAimed);
            case 5 -> senders.otherAddress.send(packet, write(known, sweep), isAimed);
            case 6 -> senders.otherPort.send(packet, answer(known, sweep, i, random), isAimed);
            case 7 -> senders.peer.send(packet, answer(known, sweep, i, random), isAimed);
            case 8 -> senders.otherAddress.send(packet, answer(known, sweep, i, random), isAimed);
            default -> senders.peer.send(packet, end(known, i / 10, random), isAimed);
        }
    }

    private int write(Known known, int distance) {
        int payloadAt = Bth.LENGTH + Reth.LENGTH;
        Bth.write(
                memory,
                0,
                Opcode.RC_WRITE_ONLY.code(),
                false,
                0,
                GsiPacket.PARTITION_KEY,
                known.served,
                true,
                known.servedPsn + distance & 0xff_ffff);
        Reth.write(memory, Bth.LENGTH, known.address, known.key, Long.BYTES);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, payloadAt, EVIL);
        return payloadAt + Long.BYTES + Icrc.LENGTH;
    }

    private int answer(Known known, int distance, int i, SplittableRandom random) {
        Bth.write(
                memory,
                0,
                Opcode.RC_ACKNOWLEDGE.code(),
                false,
                0,
                GsiPacket.PARTITION_KEY,
                known.writing,
                false,
                known.writingPsn + distance & 0xff_ffff);
        Aeth.write(memory, Bth.LENGTH, SYNDROMES[i / 10 % SYNDROMES.length], random.nextInt(1 << 24));
        return Bth.LENGTH + Aeth.LENGTH + Icrc.LENGTH;
    }

    /** A message of connection management that ends a connection, for the process that has the queue pair. */
    private int end(Known known, int i, SplittableRandom random) {
        int queuePair = (i & 1) == 0 ? known.served : known.writing;
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
