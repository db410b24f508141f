package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Req;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Sends valid connection requests from many addresses, each followed by its withdrawal (REJ, reason 4). No message
 * depends on an answer, so any host can forge them.
 *
 * <p>The parameters are {@code port} and {@code seconds}. It reports {@code begun}, and finally {@code pairs}.
 */
public final class WithdrawnStorm implements Role {
    /** The network of its addresses. The sending host must have all of them. */
    public static final String NETWORK = "10.87.0.0/16";

    private static final long TCP_SERVICES = 0x0106_0000L;
    private static final int SOURCES = 400;
    private static final int PAIRS_PER_SECOND = 20_000;
    private static final int BURST = 64;
    private static final long GUID = 0x1234_5678_0000_0000L;

    private final SplittableRandom random = new SplittableRandom(37);
    private final byte[] bytes = new byte[GsiPacket.LENGTH];
    private final List<Source> sources = new ArrayList<>();
    private final InetSocketAddress target =
            new InetSocketAddress(InetAddress.ofLiteral(TwoHosts.RIGHT), Frame.UDP_PORT);

    private record Source(Gid address, Sealer sealer, DatagramChannel channel) {
        static Source open(int i) throws IOException {
            InetAddress address = InetAddress.ofLiteral("10.87." + (1 + i / 200) + "." + (1 + i % 200));
            DatagramChannel channel = DatagramChannel.open().bind(new InetSocketAddress(address, Frame.UDP_PORT));
            return new Source(
                    Gid.of(address),
                    new Sealer(address, Frame.UDP_PORT, InetAddress.ofLiteral(TwoHosts.RIGHT)),
                    channel);
        }
    }

    @Override
    public void run(Parent parent) throws IOException, InterruptedException {
        for (int i = 0; i < SOURCES; i++) {
            sources.add(Source.open(i));
        }
        long service = TCP_SERVICES + parent.number("port", 0);
        parent.report("begun", 1);
        long begin = System.nanoTime();
        long durationNanos = parent.number("seconds", 10) * 1_000_000_000L;
        int pairs = 0;
        for (long elapsed = 0; elapsed < durationNanos; elapsed = System.nanoTime() - begin) {
            while (pairs < elapsed / 1_000_000_000.0 * PAIRS_PER_SECOND) {
                for (int i = 0; i < BURST; i++) {
                    sendPair(++pairs, service);
                }
            }
            Thread.sleep(1);
        }
        parent.report("pairs", pairs);
        String _ = parent.nextCommand();
    }

    private void sendPair(int id, long service) throws IOException {
        Source from = sources.get(id % SOURCES);
        Gid to = Gid.of(target.getAddress());
        long guid = GUID + id;
        Req request = Req.builder()
                .localCommunicationId(id)
                .localCaGuid(guid)
                .localQueuePair(2 + id % (1 << 23))
                .startingPsn(random.nextInt(1 << 24))
                .serviceId(service)
                .pathMtu(3)
                .primaryPath(CmPath.roce(from.address(), to, 0, 0, 64, 19))
                .privateData(new IpCmHeader(from.address(), 5000, to).with(PrivateData.EMPTY))
                .build();
        send(from, id, request);
        send(from, id, Rej.timeout(id, Rej.MESSAGE_OTHER, guid));
    }

    private void send(Source from, int id, CmMessage message) throws IOException {
        int length = GsiPacket.write(MemorySegment.ofArray(bytes), 0, id & 0xff_ffff, id, message);
        from.sealer().seal(bytes, length);
        int _ = from.channel().send(ByteBuffer.wrap(bytes, 0, length), target);
    }
}
