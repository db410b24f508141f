package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Req;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Sends hostile connection requests from several addresses. Counts the responses, and packets sent to an address that
 * some requests name.
 */
public final class RequestStorm implements Role {
    private static final long TCP_SERVICES = 0x0106_0000L;
    private static final int ATTACKERS = 8;
    private static final int BURST = 20;
    private static final long LINGER_NANOS = 2_000_000_000L;
    private static final String THIRD_PARTY = "10.86.0.99";

    private final SplittableRandom random = new SplittableRandom(21);
    private final List<Sealer> sealers = new ArrayList<>();
    private final List<DatagramChannel> attackers = new ArrayList<>();
    private final ByteBuffer received = ByteBuffer.allocate(9000);
    private final byte[] bytes = new byte[GsiPacket.LENGTH];
    private long receivedBytes;
    private long responses;
    private long sentBytes;

    /** Returns the addresses that its host needs. */
    public static List<String> addresses() {
        return Stream.concat(attackerAddresses(), Stream.of(THIRD_PARTY)).toList();
    }

    private static Stream<String> attackerAddresses() {
        return IntStream.range(0, ATTACKERS).mapToObj(i -> "10.86.0." + (100 + i));
    }

    private static DatagramChannel open(String address) throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(InetAddress.ofLiteral(address), Frame.UDP_PORT));
        channel.configureBlocking(false);
        return channel;
    }

    @Override
    public void run(Parent parent) throws IOException, InterruptedException {
        for (String address : attackerAddresses().toList()) {
            attackers.add(open(address));
            sealers.add(
                    new Sealer(InetAddress.ofLiteral(address), Frame.UDP_PORT, InetAddress.ofLiteral(TwoHosts.RIGHT)));
        }
        DatagramChannel thirdParty = open(THIRD_PARTY);
        long service = TCP_SERVICES + parent.number("port", 0);
        int messages = (int) parent.number("messages", 1000);
        parent.report("begun", 1);
        for (int i = 0; i < messages; i++) {
            send(i, service);
            if (i % BURST == 0) {
                Thread.sleep(1);
                receiveResponses();
            }
        }
        for (long end = System.nanoTime() + LINGER_NANOS; System.nanoTime() < end; ) {
            receiveResponses();
            Thread.sleep(10);
        }
        long toThirdParty = 0;
        while (thirdParty.receive(received.clear()) != null) {
            toThirdParty++;
        }
        parent.report(
                "result",
                Map.of(
                        "sentBytes",
                        sentBytes,
                        "receivedBytes",
                        receivedBytes,
                        "answers",
                        responses,
                        "toThirdParty",
                        toThirdParty));
        String _ = parent.nextCommand();
    }

    private void receiveResponses() throws IOException {
        for (DatagramChannel attacker : attackers) {
            while (attacker.receive(received.clear()) != null) {
                receivedBytes += received.position();
                responses++;
            }
        }
    }

    /** Sends one of seven kinds of message from one of the addresses. */
    private void send(int i, long service) throws IOException {
        int attacker = i % ATTACKERS;
        Gid from = gid("10.86.0." + (100 + attacker));
        Gid to = gid(TwoHosts.RIGHT);
        int kind = i / ATTACKERS % 7;
        int length = GsiPacket.LENGTH;
        if (kind != 1) { // kind 1 repeats the previous message
            Gid namedSource = kind == 5 ? gid(THIRD_PARTY) : from;
            PrivateData privateData = new IpCmHeader(from, 1000 + random.nextInt(60_000), to).with(PrivateData.EMPTY);
            if (kind == 3) {
                byte[] randomData = new byte[92];
                random.nextBytes(randomData);
                privateData = PrivateData.of(randomData);
            }
            Req request = Req.builder()
                    .localCommunicationId(1 + random.nextInt(Integer.MAX_VALUE))
                    .localCaGuid(random.nextLong())
                    .localQueuePair(2 + random.nextInt(1 << 23))
                    .startingPsn(random.nextInt(1 << 24))
                    .serviceId(kind == 2 ? random.nextLong() : service)
                    .pathMtu(3)
                    .primaryPath(CmPath.roce(namedSource, to, 0, 0, 64, 19))
                    .privateData(privateData)
                    .build();
            int _ = GsiPacket.write(MemorySegment.ofArray(bytes), 0, i & 0xff_ffff, random.nextLong(), request);
            if (kind == 6) { // a correct header followed by random bytes
                for (int at = GsiPacket.HEADER_LENGTH + 24; at < GsiPacket.HEADER_LENGTH + CmMad.LENGTH; at++) {
                    bytes[at] = (byte) random.nextInt();
                }
            }
        }
        if (kind == 4) {
            length -= 4 * (1 + random.nextInt(50)); // truncated
        }
        sealers.get(attacker).seal(bytes, length);
        sentBytes += length;
        int _ = attackers
                .get(attacker)
                .send(
                        ByteBuffer.wrap(bytes, 0, length),
                        new InetSocketAddress(InetAddress.ofLiteral(TwoHosts.RIGHT), Frame.UDP_PORT));
    }

    private static Gid gid(String address) {
        return Gid.of(InetAddress.ofLiteral(address));
    }
}
