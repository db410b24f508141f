package io.rdma4j.faults.traffic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Psn;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Answers READs with packets of its own making, and looks what became of the memory around what was read. Not thread safe. */
public final class HostileResponder implements AutoCloseable {
    private static final InetAddress OWN = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress PEER = InetAddress.ofLiteral("127.0.0.3");
    private static final int PEERS_NUMBER = 0x123456;
    private static final int MTU = 1024;
    private static final int CANARY_BYTES = 65_536;
    private static final byte CANARY = (byte) 0xc5;
    private static final byte PAYLOAD = 0x5a;
    private static final long PATIENCE_NANOS = 3_000_000_000L;
    private static final int PARTITION = 0xffff;

    /** 1 ms, twice: who is answered with nonsense gives up soon. */
    private static final VerbsSide.Patience PATIENCE = new VerbsSide.Patience(8, 2, 1, 1);

    /** One packet: its opcode, how far its PSN is from the request's, syndrome, bytes of payload and of padding. */
    private record Answer(Opcode opcode, int distance, int syndrome, int length, int pad) {}

    /**
     * What it does with one READ.
     *
     * @param name what it does
     * @param length bytes that are asked for
     * @param answers what comes
     * @param isRight whether that is the right answer
     */
    public record Script(String name, int length, List<Answer> answers, boolean isRight) {}

    private final DatagramChannel channel;
    private final Sealer sealer = new Sealer(PEER, Frame.UDP_PORT, OWN);
    private final VerbsSide side = new VerbsSide(OWN, 16, 0);
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private final ByteBuffer request = ByteBuffer.allocate(9000);

    /**
     * Opens the device, and a socket for the peer.
     *
     * @throws IOException if the peer's address has no RDMA port to give
     */
    public HostileResponder() throws IOException {
        channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(PEER, Frame.UDP_PORT));
        channel.configureBlocking(false);
    }

    /** All scripts; the last one is honest. */
    public static List<Script> scripts() {
        List<Script> all = new ArrayList<>();
        for (int length : new int[] {0, 99, 101, 104, 1024}) {
            all.add(one("one answer of " + length + " bytes", 100, only(0, length)));
        }
        for (int pad = 1; pad <= 3; pad++) {
            Answer padded = new Answer(Opcode.RC_READ_RESPONSE_ONLY, 0, Aeth.ACK, 100 - pad, pad);
            all.add(one("padding of " + pad + " in place of bytes", 100, padded));
        }
        Answer first = new Answer(Opcode.RC_READ_RESPONSE_FIRST, 0, Aeth.ACK, MTU, 0);
        all.add(one("more packets to come", 100, first));
        all.add(one("a middle first", 100, new Answer(Opcode.RC_READ_RESPONSE_MIDDLE, 0, Aeth.ACK, MTU, 0)));
        all.add(one("a last of too many", 100, new Answer(Opcode.RC_READ_RESPONSE_LAST, 0, Aeth.ACK, MTU, 0)));
        all.add(one("an atomic's answer", 100, new Answer(Opcode.RC_ATOMIC_ACKNOWLEDGE, 0, Aeth.ACK, 0, 0)));
        for (int syndrome : new int[] {
            Aeth.NAK_INVALID_REQUEST, Aeth.NAK_REMOTE_ACCESS_ERROR, Aeth.NAK_REMOTE_OPERATIONAL_ERROR, 0x64, 0x7f, 0x40
        }) {
            all.add(one(
                    "syndrome 0x" + Integer.toHexString(syndrome),
                    100,
                    new Answer(Opcode.RC_ACKNOWLEDGE, 0, syndrome, 0, 0)));
        }
        all.add(one("a bare acknowledgement", 100, new Answer(Opcode.RC_ACKNOWLEDGE, 0, Aeth.ACK, 0, 0)));
        all.add(one("an answer ahead", 100, only(1, 100)));
        all.add(one("an answer far behind", 100, only(-1000, 100)));
        List<Answer> endless = new ArrayList<>(List.of(first));
        for (int i = 1; i < 100; i++) {
            endless.add(new Answer(Opcode.RC_READ_RESPONSE_MIDDLE, i, Aeth.ACK, MTU, 0));
        }
        all.add(new Script("READ of 3000 bytes: middles without end", 3000, endless, false));
        all.add(new Script("READ of 100 bytes: its answer", 100, List.of(only(0, 100)), true));
        return all;
    }

    private static Script one(String name, int length, Answer answer) {
        return new Script("READ of " + length + " bytes: " + name, length, List.of(answer), false);
    }

    private static Answer only(int distance, int length) {
        return new Answer(Opcode.RC_READ_RESPONSE_ONLY, distance, Aeth.ACK, length, -length & 3);
    }

    /** Plays one script; what is wrong then, or nothing. */
    public String run(Script script) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            return run(script, arena);
        }
    }

    private String run(Script script, Arena arena) throws IOException {
        byte[] before = new byte[2 * CANARY_BYTES + script.length()];
        Arrays.fill(before, CANARY);
        MemorySegment memory = arena.allocate(before.length);
        memory.copyFrom(MemorySegment.ofArray(before));
        QueuePair reader = side.queuePair(1, 1);
        side.connect(reader, PEER, PEERS_NUMBER, PATIENCE);
        try (MemoryRegion region = side.domain().register(memory, AccessFlag.LOCAL_WRITE)) {
            reader.postRead(1, region, CANARY_BYTES, script.length(), 0x1000, 7);
            CompletionStatus status = answer(script, reader.number());
            boolean isRight = status == CompletionStatus.SUCCESS;
            if (isRight != script.isRight()) {
                return script.name() + ": ended with " + status;
            }
            Arrays.fill(before, CANARY_BYTES, CANARY_BYTES + script.length(), PAYLOAD);
            if (isRight) {
                return memory.mismatch(MemorySegment.ofArray(before)) < 0 ? "" : script.name() + ": wrong bytes";
            }
        } finally {
            reader.close();
        }
        return isIntact(memory, script.length()) ? "" : script.name() + ": memory beside it was written";
    }

    private static boolean isIntact(MemorySegment memory, int length) {
        for (long i = 0; i < CANARY_BYTES; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != CANARY
                    || memory.get(ValueLayout.JAVA_BYTE, CANARY_BYTES + length + i) != CANARY) {
                return false;
            }
        }
        return true;
    }

    /** Answers every request that comes, until the READ has ended. */
    private CompletionStatus answer(Script script, int reader) throws IOException {
        long begin = System.nanoTime();
        while (side.completions().poll(one) == 0) {
            if (System.nanoTime() - begin > PATIENCE_NANOS) {
                throw new IOException(script.name() + ": the READ does not end");
            }
            if (channel.receive(request.clear()) instanceof InetSocketAddress from) {
                int psn = Bth.psn(MemorySegment.ofBuffer(request.flip()), 0);
                for (Answer answer : script.answers()) {
                    send(answer, reader, Psn.plus(psn, answer.distance()), from);
                }
            }
        }
        return one[0].status();
    }

    private void send(Answer answer, int reader, int psn, InetSocketAddress to) throws IOException {
        Opcode opcode = answer.opcode();
        int payloadAt = opcode.headerLength();
        byte[] packet = new byte[payloadAt + answer.length() + answer.pad() + Icrc.LENGTH];
        MemorySegment memory = MemorySegment.ofArray(packet);
        Bth.write(memory, 0, opcode.code(), false, answer.pad(), PARTITION, reader, false, psn);
        if (opcode.hasAeth()) {
            Aeth.write(memory, Bth.LENGTH, answer.syndrome(), 1);
        }
        Arrays.fill(packet, payloadAt, payloadAt + answer.length(), PAYLOAD);
        sealer.seal(packet, packet.length);
        channel.send(ByteBuffer.wrap(packet), to);
    }

    @Override
    public void close() throws IOException {
        side.close();
        channel.close();
    }
}
