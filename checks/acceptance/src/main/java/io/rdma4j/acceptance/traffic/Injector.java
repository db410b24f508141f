package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.value.RejectReason;
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
 * An off-path attacker that can send from any address but receives nothing. For two connections of the right host, it
 * knows everything but one detail at a time. It sends WRITEs into the memory of one, responses to the requests of the
 * other, and messages that end either. They use another UDP port, another address, a guessed PSN (in responses also a
 * guessed message count), or guessed communication IDs.
 *
 * <p>The parameters are {@code perSecond} and {@code seed}; {@code served}, {@code servedPsn}, {@code address} and
 * {@code key} of the connection that is the target of WRITEs; {@code writing} and {@code writingPsn} of the one that
 * writes. It reports {@code begun}. On {@code go} it sends for one second; on {@code past} it sends to an unused UDP
 * port instead. Then it reports {@code sent}: the total number of packets sent to the RoCE port.
 */
public final class Injector implements Role {
    /** An address that no host has. */
    public static final String ELSEWHERE = "10.86.0.77";

    /** The value that the attacker tries to write. */
    public static final long INJECTED = 0xeeee_eeee_eeee_eeeeL;

    private static final int OTHER_PORT = 40_123;

    /** An unused UDP port, for measuring the cost of the packets themselves. */
    private static final int CLOSED_PORT = 4793;

    private static final int SWEEP = 1 << 20;

    /**
     * Distance between the connection's PSN and the first guess: a quarter of the PSN space, so that all guesses miss.
     */
    private static final int PSN_DISTANCE = 1 << 22;

    private static final int BURST = 32;
    private static final int MAX_LENGTH = 512;

    /** Packets that are built but not sent, so that code is compiled before the first second. */
    private static final int WARM_UP = 20_000;

    private static final int[] SYNDROMES = {
        Aeth.ACK,
        Aeth.NAK_PSN_SEQUENCE_ERROR,
        Aeth.NAK_INVALID_REQUEST,
        Aeth.NAK_REMOTE_ACCESS_ERROR,
        Aeth.NAK_REMOTE_OPERATIONAL_ERROR,
        Aeth.RNR_NAK
    };

    private final byte[] packet = new byte[MAX_LENGTH];
    private final MemorySegment memory = MemorySegment.ofArray(packet);

    /** A forged source address. */
    private static final class Sender {
        private final DatagramChannel channel;
        private final Sealer sealer;
        private final InetSocketAddress target;
        private final InetSocketAddress unusedPort;

        Sender(String address, int port) throws IOException {
            InetAddress from = InetAddress.ofLiteral(address);
            InetAddress to = InetAddress.ofLiteral(TwoHosts.RIGHT);
            channel = DatagramChannel.open();
            channel.bind(new InetSocketAddress(from, port));
            target = new InetSocketAddress(to, Frame.UDP_PORT);
            unusedPort = new InetSocketAddress(to, CLOSED_PORT);
            sealer = new Sealer(from, port, to);
        }

        void send(byte[] packet, int length, boolean toRocePort) throws IOException {
            sealer.seal(packet, length);
            int _ = channel.send(ByteBuffer.wrap(packet, 0, length), toRocePort ? target : unusedPort);
        }
    }

    /** The values that the attacker knows. */
    private record Known(int served, int servedPsn, long address, int key, int writing, int writingPsn) {}

    /** The forged source addresses. */
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
            senders.peer.sealer.seal(packet, response(known, i, i, random));
            senders.peer.sealer.seal(packet, end(known, i, random));
        }
        parent.report("begun", 1);
        int perSecond = (int) parent.number("perSecond", 1);
        int sent = 0;
        for (String command = parent.nextCommand(); !command.equals("end"); command = parent.nextCommand()) {
            boolean toRocePort = command.equals("go");
            long begin = System.nanoTime();
            for (int i = 0; i < perSecond; i++) {
                send(senders, known, sent + i, toRocePort, random);
                long aheadNanos = begin + i * 1_000_000_000L / perSecond - System.nanoTime();
                if (i % BURST == 0 && aheadNanos > 0) {
                    LockSupport.parkNanos(aheadNanos);
                }
            }
            sent += toRocePort ? perSecond : 0;
            parent.report("sent", sent);
        }
    }

    private void send(Senders senders, Known known, int i, boolean toRocePort, SplittableRandom random)
            throws IOException {
        int sweep = i % SWEEP;
        switch (i % 10) {
            case 0, 1, 2 -> senders.peer.send(packet, write(known, PSN_DISTANCE + sweep), toRocePort);
            case 3, 4 -> senders.otherPort.send(packet, write(known, sweep), toRocePort);
            case 5 -> senders.otherAddress.send(packet, write(known, sweep), toRocePort);
            case 6 -> senders.otherPort.send(packet, response(known, sweep, i, random), toRocePort);
            case 7 -> senders.peer.send(packet, response(known, sweep, i, random), toRocePort);
            case 8 -> senders.otherAddress.send(packet, response(known, sweep, i, random), toRocePort);
            default -> senders.peer.send(packet, end(known, i / 10, random), toRocePort);
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
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, payloadAt, INJECTED);
        return payloadAt + Long.BYTES + Icrc.LENGTH;
    }

    private int response(Known known, int distance, int i, SplittableRandom random) {
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

    /** Writes a connection manager message that ends a connection, for the process that owns the queue pair. */
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
