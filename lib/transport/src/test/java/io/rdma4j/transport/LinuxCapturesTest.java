package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Replays one side of captured exchanges between Linux hosts to a queue pair. The packets that it sends must equal
 * those of Linux byte for byte; deliberate differences are stated in the tests.
 */
class LinuxCapturesTest {
    private static final long CLIENT = Gid.ipv4Low(0x0a58_0001);
    private static final long SERVER = Gid.ipv4Low(0x0a58_0002);

    private final Icrc icrc = new Icrc();
    private final Packet packet = new Packet();
    private final List<Pair.Done> done = new ArrayList<>();
    private final List<QueuePairEvent> events = new ArrayList<>();
    private final Deque<Integer> keys = new ArrayDeque<>();
    private final MemoryTable memory = new MemoryTable(keys::removeFirst);
    private long now = 1_000_000_000L;

    private record Captured(int number, Frame frame) {
        boolean fromClient() {
            return frame.sourceLow != SERVER;
        }

        int opcode() {
            return Bth.opcode(frame.segment, frame.offset);
        }

        int psn() {
            return Bth.psn(frame.segment, frame.offset);
        }

        String hex() {
            return HexFormat.of()
                    .formatHex(frame.buffer.array(), frame.offset, frame.offset + frame.length - Icrc.LENGTH);
        }
    }

    private static List<Captured> load(String name) throws IOException {
        byte[] file;
        try (InputStream in = LinuxCapturesTest.class.getResourceAsStream("/captures/" + name + ".pcap")) {
            file = Objects.requireNonNull(in).readAllBytes();
        }
        ByteBuffer little = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer big = ByteBuffer.wrap(file);
        List<Captured> found = new ArrayList<>();
        int number = 0;
        for (int at = 24; at < file.length; at += 16 + little.getInt(at + 8)) {
            number++;
            int ip = at + 16 + 14;
            if (big.getShort(ip - 2) != 0x0800 || big.get(ip + 9) != 17 || big.getShort(ip + 22) != Frame.UDP_PORT) {
                continue;
            }
            Frame f = new Frame();
            f.segment = MemorySegment.ofArray(file);
            f.buffer = big;
            f.offset = ip + 28;
            f.length = (big.getShort(ip + 24) & 0xffff) - 8;
            f.sourceLow = Gid.ipv4Low(big.getInt(ip + 12));
            f.destinationLow = Gid.ipv4Low(big.getInt(ip + 16));
            f.sourcePort = big.getShort(ip + 20) & 0xffff;
            f.identification = big.getShort(ip + 4) & 0xffff;
            found.add(new Captured(number, f));
        }
        return found;
    }

    private RcQueuePair queuePair(boolean isClient, int number, int peer, int receivePsn, int sendPsn) {
        QueuePairMachine.Configuration c = new QueuePairMachine.Configuration(64, 64, 4, 4, 64, true, 1);
        CompletionSink sink = d -> done.add(new Pair.Done(
                d.workRequestId,
                d.status,
                d.isReceive,
                d.opcode,
                d.isReceiveOfWrite,
                d.byteLength,
                d.hasImmediate,
                d.immediate,
                d.solicited));
        RcQueuePair q = new RcQueuePair(number, c, memory, sink, sink, events::add);
        q.toInit(Pair.ALL_ACCESS);
        long local = isClient ? CLIENT : SERVER;
        long remote = isClient ? SERVER : CLIENT;
        q.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                new QueuePairMachine.Peer(0, local, 0, remote, 0, peer, 0, 64, 0), 1024, receivePsn, 4, 0));
        q.toReadyToSend(new RcQueuePair.SendParameters(sendPsn, 4, 7, 7, 19));
        return q;
    }

    private MemoryRegion register(int bytes, long address, int key) {
        keys.add(key);
        return memory.register(MemorySegment.ofArray(new byte[bytes]), address, Pair.ALL_ACCESS, 1);
    }

    /** Delivers a frame as a device does: malformed frames and those with an incorrect ICRC are dropped. */
    private void deliver(QueuePairMachine q, Captured c) {
        if (packet.parse(c.frame()) == Packet.Result.OK && icrc.verify(c.frame())) {
            q.onPacket(now, packet);
        }
    }

    private List<String> sent(QueuePairMachine q) {
        List<String> packets = new ArrayList<>();
        byte[] room = new byte[2048];
        int length;
        while ((length = q.pollTransmit(now, MemorySegment.ofArray(room), 0)) > 0) {
            packets.add(HexFormat.of().formatHex(room, 0, length));
        }
        return packets;
    }

    private static boolean isConnected(Captured c) {
        return c.opcode() < 0x20;
    }

    @Test
    void injectedPacketsGetTheResponsesOfLinux() throws IOException {
        List<Captured> all = load("inject");
        RcQueuePair server = queuePair(false, 0x14, 0x16, 8813653, 0x1000);
        MemoryRegion region = register(4096, 0x56434fab4000L, 0x5e4);
        for (int i = 0; i < 30; i++) {
            ReceiveRequest r = Objects.requireNonNull(server.receiveQueue().claim());
            r.list.add(region, 3500, 64);
            server.receiveQueue().publish();
        }
        fillAsRead(region, all);
        int compared = 0;
        for (int i = 0; i < all.size(); i++) {
            Captured c = all.get(i);
            if (!c.fromClient() || c.opcode() == 0x64 && c.number() != 49) {
                continue;
            }
            List<String> linux = new ArrayList<>();
            for (int j = i + 1; j < all.size() && !all.get(j).fromClient(); j++) {
                if (isConnected(all.get(j))) {
                    linux.add(all.get(j).hex());
                }
            }
            if (c.number() == 34 || c.number() == 37) {
                linux.set(0, startingWithFirstOrOnly(linux.getFirst()));
            }
            deliver(server, c);
            assertThat(sent(server)).as("response to #%s", c.number()).isEqualTo(linux);
            compared += linux.size();
        }
        assertThat(compared).isEqualTo(23);
        assertThat(server.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(events).containsExactly(QueuePairEvent.REQUEST_ERROR);
    }

    /**
     * Changes the first packet of a response to FIRST or ONLY. The duplicate requests #34 and #37 request the rest of a
     * READ. Linux continues with MIDDLE or LAST; rdma4j starts with FIRST or ONLY, as the specification requires.
     */
    private static String startingWithFirstOrOnly(String packet) {
        String bth = packet.substring(2, 2 * Bth.LENGTH);
        String rest = packet.substring(2 * Bth.LENGTH);
        return packet.startsWith("0e") ? "0d" + bth + "1f000007" + rest : "10" + bth + rest;
    }

    /** Fills the region with the data of the captured READ responses. */
    private static void fillAsRead(MemoryRegion region, List<Captured> all) {
        for (Captured c : all.subList(26, 29)) {
            Packet p = new Packet();
            p.parse(c.frame());
            MemorySegment.copy(
                    p.segment(), p.payloadOffset(), region.memory(), (c.psn() - 8813659) * 1024L, p.payloadLength());
        }
    }

    @Test
    void everyOperationMatchesLinuxOnTheWire() throws IOException {
        List<Captured> all =
                load("all").stream().filter(LinuxCapturesTest::isConnected).toList();
        RcQueuePair client = queuePair(true, 0x19, 0x19, 6604818, 1909310);
        MemoryRegion local = register(8192, 0, 0x77);
        ReceiveRequest receive = Objects.requireNonNull(client.receiveQueue().claim());
        receive.list.add(local, 0, 8192);
        client.receiveQueue().publish();
        Deque<String> ours = new ArrayDeque<>();
        int compared = 0;
        for (int i = 0; i < all.size(); i++) {
            Captured c = all.get(i);
            now += 1000;
            if (!c.fromClient()) {
                deliver(client, c);
                ours.addAll(sent(client));
                continue;
            }
            if (ours.isEmpty()) {
                post(client, local, all.subList(i, all.size()));
                ours.addAll(sent(client));
            }
            assertThat(ours.pollFirst()).as("#%s", c.number()).isEqualTo(c.hex());
            compared++;
        }
        assertThat(ours).isEmpty();
        assertThat(compared).isEqualTo(16);
        List<CompletionStatus> statuses =
                done.stream().filter(d -> !d.isReceive()).map(Pair.Done::status).toList();
        assertThat(statuses).hasSize(13);
        assertThat(statuses.subList(0, 12)).containsOnly(CompletionStatus.SUCCESS);
        assertThat(statuses.getLast())
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR); // the key is unknown to the server
    }

    /** Posts the work request that produced the next captured packets. */
    private static void post(RcQueuePair q, MemoryRegion local, List<Captured> rest) {
        Packet p = new Packet();
        SendRequest r = Objects.requireNonNull(q.sendQueue().claim());
        long length = 0;
        for (Captured c : rest) {
            if (!c.fromClient()) {
                continue;
            }
            p.parse(c.frame());
            MemorySegment s = p.segment();
            MemorySegment.copy(s, p.payloadOffset(), local.memory(), length, p.payloadLength());
            length += p.payloadLength();
            Opcode opcode = p.opcode();
            r.solicited |= p.solicited();
            if (opcode.hasReth()) {
                r.remoteAddress = Reth.address(s, p.rethOffset());
                r.remoteKey = Reth.key(s, p.rethOffset());
            } else if (opcode.hasAtomicEth()) {
                r.remoteAddress = AtomicEth.address(s, p.atomicEthOffset());
                r.remoteKey = AtomicEth.key(s, p.atomicEthOffset());
                r.swapOrAdd = AtomicEth.swapOrAdd(s, p.atomicEthOffset());
                r.compare = AtomicEth.compare(s, p.atomicEthOffset());
                length = 8;
            }
            if (opcode.isRead()) {
                length = Reth.dmaLength(s, p.rethOffset());
            }
            if (opcode.isLast()) {
                r.opcode = kind(opcode, p, r);
                break;
            }
        }
        if (length > 0) {
            r.list.add(local, 0, length);
        }
        r.lengthBytes = length;
        q.sendQueue().publish();
    }

    private static SendOpcode kind(Opcode opcode, Packet p, SendRequest r) {
        if (opcode.hasImmediate()) {
            r.immediate = p.immediate();
            return opcode.isSend() ? SendOpcode.SEND_WITH_IMMEDIATE : SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        }
        if (opcode.hasIeth()) {
            r.invalidateKey = p.invalidateKey();
            return SendOpcode.SEND_WITH_INVALIDATE;
        }
        return switch (opcode) {
            case RC_READ_REQUEST -> SendOpcode.RDMA_READ;
            case RC_COMPARE_SWAP -> SendOpcode.COMPARE_AND_SWAP;
            case RC_FETCH_ADD -> SendOpcode.FETCH_AND_ADD;
            default -> opcode.isSend() ? SendOpcode.SEND : SendOpcode.RDMA_WRITE;
        };
    }

    @Test
    void unreliableConnectionMatchesLinuxInBothDirections() throws IOException {
        List<Captured> c =
                load("uc").stream().filter(each -> each.opcode() >>> 5 == 1).toList();
        assertThat(c).hasSize(18);
        CompletionSink sink = d -> done.add(new Pair.Done(
                d.workRequestId, d.status, d.isReceive, d.opcode, false, d.byteLength, false, 0, d.solicited));
        UcQueuePair client = new UcQueuePair(
                0x12, new QueuePairMachine.Configuration(8, 8, 1, 1, 0, true, 1), memory, sink, sink, events::add);
        client.toInit(Pair.ALL_ACCESS);
        client.toReadyToReceive(new QueuePairMachine.Peer(0, CLIENT, 0, SERVER, 0, 0x12, 0, 64, 0), 1024, 0x9239e2);
        client.toReadyToSend(0x7c113c);
        MemoryRegion out = register(3000, 0, 1);
        out.memory().fill((byte) 0x7b);
        MemoryRegion in = register(3000, 0, 2);
        for (int i = 0; i < c.size(); i += 6) {
            SendRequest r = Objects.requireNonNull(client.sendQueue().claim());
            r.list.add(out, 0, 3000);
            r.lengthBytes = 3000;
            client.sendQueue().publish();
            assertThat(sent(client))
                    .containsExactly(
                            c.get(i).hex(), c.get(i + 1).hex(), c.get(i + 2).hex());
            in.memory().fill((byte) 0);
            ReceiveRequest receive =
                    Objects.requireNonNull(client.receiveQueue().claim());
            receive.list.add(in, 0, 3000);
            client.receiveQueue().publish();
            c.subList(i + 3, i + 6).forEach(packet -> deliver(client, packet));
            assertThat(done.getLast().isReceive()).isTrue();
            assertThat(done.getLast().bytes()).isEqualTo(3000);
            assertThat(in.memory().mismatch(out.memory())).isEqualTo(-1);
        }
        assertThat(done).hasSize(6).allMatch(d -> d.status() == CompletionStatus.SUCCESS);
    }

    @Test
    void datagramsMatchLinuxOnTheWire() throws IOException {
        assertThat(resend("ud", 0x1a)).isEqualTo(2);
        assertThat(resend("udaddy", 0x14)).isEqualTo(12);
    }

    /** Sends all datagrams of a capture except those of QP 1, compares them, and returns their number. */
    private int resend(String capture, int anyNumber) throws IOException {
        Packet p = new Packet();
        Map<Integer, UdQueuePair> senders = new HashMap<>();
        MemoryRegion local = register(2048, 0, anyNumber);
        int compared = 0;
        for (Captured c : load(capture)) {
            p.parse(c.frame());
            MemorySegment s = p.segment();
            int number = Deth.sourceQueuePair(s, p.dethOffset());
            if (p.opcode().transport() != Opcode.Transport.UD || number == 1) {
                continue;
            }
            int side = c.fromClient() ? 0 : 1 << 24; // both sides use the same queue pair numbers
            UdQueuePair q = senders.computeIfAbsent(number | side, _ -> datagrams(number, c.psn()));
            MemorySegment.copy(s, p.payloadOffset(), local.memory(), 0, p.payloadLength());
            SendRequest r = Objects.requireNonNull(q.sendQueue().claim());
            r.opcode = p.opcode().hasImmediate() ? SendOpcode.SEND_WITH_IMMEDIATE : SendOpcode.SEND;
            r.immediate = p.opcode().hasImmediate() ? p.immediate() : 0;
            r.solicited = p.solicited();
            r.list.add(local, 0, p.payloadLength());
            r.lengthBytes = p.payloadLength();
            r.destination = new UdSide.NamedDestination("peer");
            r.remoteQueuePair = p.destinationQueuePair();
            r.queueKey = Deth.queueKey(s, p.dethOffset());
            q.sendQueue().publish();
            assertThat(sent(q)).as("%s #%s", capture, c.number()).containsExactly(c.hex());
            compared++;
        }
        return compared;
    }

    private UdQueuePair datagrams(int number, int psn) {
        CompletionSink sink = d -> {};
        UdQueuePair q = new UdQueuePair(
                number, new QueuePairMachine.Configuration(8, 8, 1, 1, 0, true, 1), sink, sink, events::add);
        q.toInit(0);
        q.changeQueueKey(UdSide.KEY);
        q.toReadyToReceive(1024);
        q.toReadyToSend(psn);
        return q;
    }

    @Test
    void datagramsOfLinuxAreReceivedWithTheirIpHeader() throws IOException {
        int received = 0;
        for (Captured c : load("udaddy")) {
            if (packet.parse(c.frame()) != Packet.Result.OK || packet.destinationQueuePair() == 1) {
                continue;
            }
            UdSide side = UdSide.ipv4(packet.destinationQueuePair()).ready(0);
            byte[] target = new byte[200];
            side.postReceive(received, side.register(target, AccessFlag.LOCAL_WRITE.bit()), 200);
            deliver(side.queuePair, c);
            assertThat(side.done).hasSize(1);
            UdSide.Done d = side.done.getFirst();
            assertThat(d.bytes()).isEqualTo(140);
            assertThat(d.source()).isEqualTo(Deth.sourceQueuePair(packet.segment(), packet.dethOffset()));
            assertThat(d.immediate()).isEqualTo(d.source()); // udaddy sends its queue pair number
            byte[] file = c.frame().buffer.array();
            int ip = c.frame().offset - 28;
            assertThat(Arrays.copyOfRange(target, 20, 40)).isEqualTo(Arrays.copyOfRange(file, ip, ip + 20));
            assertThat(Arrays.copyOfRange(target, 40, 140))
                    .isEqualTo(
                            Arrays.copyOfRange(file, (int) packet.payloadOffset(), (int) packet.payloadOffset() + 100));
            received++;
        }
        assertThat(received).isEqualTo(12);
    }

    @Test
    void rnrNaksAreSentAndHandledAsByLinux() throws IOException {
        List<Captured> c =
                load("rnr").stream().filter(LinuxCapturesTest::isConnected).toList();
        RcQueuePair client = queuePair(true, 0x1b, 0x1a, 0, 5684951);
        post(client, register(64, 0, 1), c);
        assertThat(sent(client)).containsExactly(c.get(0).hex());
        deliver(client, c.get(1));
        assertThat(sent(client)).isEmpty();
        assertThat(client.nextDeadlineNanos()).isEqualTo(now + 655_360_000L);
        now += 655_360_000L;
        client.onDeadline(now);
        assertThat(sent(client)).containsExactly(c.get(2).hex());
        deliver(client, c.get(3));
        assertThat(done.getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);

        RcQueuePair server = queuePair(false, 0x1a, 0x1b, 5684951, 0);
        deliver(server, c.get(0));
        assertThat(sent(server)).containsExactly(c.get(1).hex());
        ReceiveRequest r = Objects.requireNonNull(server.receiveQueue().claim());
        r.list.add(register(64, 0, 2), 0, 64);
        server.receiveQueue().publish();
        deliver(server, c.get(2));
        assertThat(sent(server)).containsExactly(c.get(3).hex());
    }

    @Test
    void tooLongMessageIsRejectedByTheSpecificationAndTheNakOfLinuxIsUnderstood() throws IOException {
        List<Captured> c =
                load("badlen").stream().filter(LinuxCapturesTest::isConnected).toList();
        RcQueuePair client = queuePair(true, 0x1d, 0x1c, 0, 1905248);
        post(client, register(4096, 0, 1), c);
        assertThat(sent(client)).containsExactly(c.get(0).hex(), c.get(1).hex());
        deliver(client, c.get(2));
        assertThat(done.getFirst().status()).isEqualTo(CompletionStatus.REMOTE_OPERATION_ERROR);
        done.clear();

        RcQueuePair server = queuePair(false, 0x1c, 0x1d, 1905248, 0);
        ReceiveRequest r = Objects.requireNonNull(server.receiveQueue().claim());
        r.list.add(register(1500, 0, 2), 0, 1500);
        server.receiveQueue().publish();
        deliver(server, c.get(0));
        deliver(server, c.get(1));
        // Linux sends 0x63, remote operational error; the specification requires 0x61, invalid request.
        assertThat(sent(server)).containsExactly(c.get(2).hex().replace("63000000", "61000000"));
        assertThat(done.getFirst().status()).isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
    }
}
