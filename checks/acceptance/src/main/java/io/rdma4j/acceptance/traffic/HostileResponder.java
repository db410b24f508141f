package io.rdma4j.acceptance.traffic;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RemoteMemory;
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

/** Responds to READs with forged packets and checks the memory around the READ's destination. Not thread safe. */
public final class HostileResponder implements AutoCloseable {
    private static final InetAddress LOCAL = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress PEER = InetAddress.ofLiteral("127.0.0.3");
    private static final int PEER_NUMBER = 0x123456;
    private static final int MTU = 1024;
    private static final int CANARY_BYTES = 65_536;
    private static final byte CANARY = (byte) 0xc5;
    private static final byte PAYLOAD = 0x5a;
    private static final long WAIT_LIMIT_NANOS = 3_000_000_000L;
    private static final int PARTITION = 0xffff;

    /** 1 ms, twice: a requester that receives only invalid responses gives up soon. */
    private static final VerbsSide.RetryParameters SHORT_RETRIES = new VerbsSide.RetryParameters(8, 2, 1, 1);

    /**
     * A response packet: opcode, difference between its PSN and the request's, syndrome, bytes of payload and of
     * padding.
     */
    private record Response(Opcode opcode, int distance, int syndrome, int length, int pad) {}

    /**
     * A script for one READ.
     *
     * @param name description of the script
     * @param length requested bytes
     * @param responses the response packets
     * @param isCorrect {@code true} if this is the correct response
     */
    public record Script(String name, int length, List<Response> responses, boolean isCorrect) {}

    private final DatagramChannel channel;
    private final Sealer sealer = new Sealer(PEER, Frame.UDP_PORT, LOCAL);
    private final VerbsSide side = new VerbsSide(LOCAL, 16, 0);
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private final ByteBuffer request = ByteBuffer.allocate(9000);

    /**
     * Opens the device, and a socket as the peer.
     *
     * @throws IOException if the RDMA port of the peer's address is in use
     */
    public HostileResponder() throws IOException {
        channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(PEER, Frame.UDP_PORT));
        channel.configureBlocking(false);
    }

    /** Returns all scripts. The last one responds correctly. */
    public static List<Script> scripts() {
        List<Script> all = new ArrayList<>();
        for (int length : new int[] {0, 99, 101, 104, 1024}) {
            all.add(one("one response of " + length + " bytes", 100, only(0, length)));
        }
        for (int pad = 1; pad <= 3; pad++) {
            Response padded = new Response(Opcode.RC_READ_RESPONSE_ONLY, 0, Aeth.ACK, 100 - pad, pad);
            all.add(one("padding of " + pad + " instead of bytes", 100, padded));
        }
        Response first = new Response(Opcode.RC_READ_RESPONSE_FIRST, 0, Aeth.ACK, MTU, 0);
        all.add(one("a first without further packets", 100, first));
        all.add(one(
                "a middle instead of a first", 100, new Response(Opcode.RC_READ_RESPONSE_MIDDLE, 0, Aeth.ACK, MTU, 0)));
        all.add(one("a last that is too long", 100, new Response(Opcode.RC_READ_RESPONSE_LAST, 0, Aeth.ACK, MTU, 0)));
        all.add(one("an atomic response", 100, new Response(Opcode.RC_ATOMIC_ACKNOWLEDGE, 0, Aeth.ACK, 0, 0)));
        for (int syndrome : new int[] {
            Aeth.NAK_INVALID_REQUEST, Aeth.NAK_REMOTE_ACCESS_ERROR, Aeth.NAK_REMOTE_OPERATIONAL_ERROR, 0x64, 0x7f, 0x40
        }) {
            all.add(one(
                    "syndrome 0x" + Integer.toHexString(syndrome),
                    100,
                    new Response(Opcode.RC_ACKNOWLEDGE, 0, syndrome, 0, 0)));
        }
        all.add(one("a bare acknowledgement", 100, new Response(Opcode.RC_ACKNOWLEDGE, 0, Aeth.ACK, 0, 0)));
        all.add(one("a response with a later PSN", 100, only(1, 100)));
        all.add(one("a response with a much earlier PSN", 100, only(-1000, 100)));
        List<Response> endless = new ArrayList<>(List.of(first));
        for (int i = 1; i < 100; i++) {
            endless.add(new Response(Opcode.RC_READ_RESPONSE_MIDDLE, i, Aeth.ACK, MTU, 0));
        }
        all.add(new Script("READ of 3000 bytes: an endless sequence of middles", 3000, endless, false));
        all.add(new Script("READ of 100 bytes: the correct response", 100, List.of(only(0, 100)), true));
        return all;
    }

    private static Script one(String name, int length, Response respond) {
        return new Script("READ of " + length + " bytes: " + name, length, List.of(respond), false);
    }

    private static Response only(int distance, int length) {
        return new Response(Opcode.RC_READ_RESPONSE_ONLY, distance, Aeth.ACK, length, -length & 3);
    }

    /** Runs one script. Returns what was wrong, or an empty string. */
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
        side.connect(reader, PEER, PEER_NUMBER, SHORT_RETRIES);
        try (MemoryRegion region = side.domain().register(memory, AccessFlag.LOCAL_WRITE)) {
            reader.postRead(1, region, CANARY_BYTES, script.length(), new RemoteMemory(0x1000, 7, script.length()));
            CompletionStatus status = respond(script, reader.number());
            boolean isCorrect = status == CompletionStatus.SUCCESS;
            if (isCorrect != script.isCorrect()) {
                return script.name() + ": ended with " + status;
            }
            Arrays.fill(before, CANARY_BYTES, CANARY_BYTES + script.length(), PAYLOAD);
            if (isCorrect) {
                return memory.mismatch(MemorySegment.ofArray(before)) < 0 ? "" : script.name() + ": wrong bytes";
            }
        } finally {
            reader.close();
        }
        return isIntact(memory, script.length()) ? "" : script.name() + ": memory around the destination was written";
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

    /** Responds to every request until the READ has completed. */
    private CompletionStatus respond(Script script, int reader) throws IOException {
        long begin = System.nanoTime();
        while (side.completions().poll(one) == 0) {
            if (System.nanoTime() - begin > WAIT_LIMIT_NANOS) {
                throw new IOException(script.name() + ": the READ does not complete");
            }
            if (channel.receive(request.clear()) instanceof InetSocketAddress from) {
                int psn = Bth.psn(MemorySegment.ofBuffer(request.flip()), 0);
                for (Response respond : script.responses()) {
                    send(respond, reader, Psn.plus(psn, respond.distance()), from);
                }
            }
        }
        return one[0].status();
    }

    private void send(Response respond, int reader, int psn, InetSocketAddress to) throws IOException {
        Opcode opcode = respond.opcode();
        int payloadAt = opcode.headerLength();
        byte[] packet = new byte[payloadAt + respond.length() + respond.pad() + Icrc.LENGTH];
        MemorySegment memory = MemorySegment.ofArray(packet);
        Bth.write(memory, 0, opcode.code(), false, respond.pad(), PARTITION, reader, false, psn);
        if (opcode.hasAeth()) {
            Aeth.write(memory, Bth.LENGTH, respond.syndrome(), 1);
        }
        Arrays.fill(packet, payloadAt, payloadAt + respond.length(), PAYLOAD);
        sealer.seal(packet, packet.length);
        channel.send(ByteBuffer.wrap(packet), to);
    }

    @Override
    public void close() throws IOException {
        side.close();
        channel.close();
    }
}
