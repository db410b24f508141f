package io.rdma4j.soft.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.engine.LeaderCycle;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A datagram to a socket that is only for sending is received within one cycle of the leader.
 *
 * <p>If it were left there, it would keep the leader from blocking.
 */
@Timeout(20)
class StrayDatagramsTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");
    private static final int SLOT = 255; // never one of a real process

    @TempDir
    Path folder = Path.of("");

    private final MemoryNetwork network = new MemoryNetwork(9000);
    private final LinkSet others = network.newLinkSet();

    private @Nullable Sharing sharing;

    private Sharing sharing() throws IOException {
        Sharing known = sharing;
        if (known == null) {
            known = new Sharing(RunDirectory.at(folder.resolve("run")), HostNetwork.SYSTEM, new Random(1));
            sharing = known;
        }
        return known;
    }

    private Engines engines() throws IOException {
        LinkDecorator plain = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
        return new Engines(
                2, network::newLinkSet, plain, sharing().slot(), StackClock.SYSTEM, null, new SecureRandom());
    }

    private static void send(Link from, int port) {
        try (Arena arena = Arena.ofConfined()) {
            SendBurst burst = new SendBurst(arena, SendBurst.MAX_FRAME_BYTES);
            burst.clear();
            burst.destination(Gid.of(ADDRESS).high(), Gid.of(ADDRESS).low(), 0, 0);
            burst.destinationPort(port);
            burst.append(64);
            from.send(burst);
        }
    }

    /** Runs the leader's cycle after a wake-up by input. No other thread drives, since the caller has the lock. */
    private static void leadOnce(Engine engine) {
        LeaderCycle.run(engine);
    }

    @Test
    void unsteeredSideSocketIsEmptyAfterOneCycleOfTheLeader() throws IOException {
        Engine side = engines().engine(1);
        Port port = sharing().openPort(side, ADDRESS);
        Link stranger = others.openUdp(ADDRESS, 0);
        side.lock();
        try {
            for (int i = 0; i < 10; i++) {
                send(stranger, port.link().localAddress().getPort());
                leadOnce(side);
                assertThat(port.link().poll(new ReceiveBurst(1))).isZero();
            }
        } finally {
            side.unlock();
        }
    }

    @Test
    void previousSendingSocketOfAnOwnerIsEmptyAfterOneCycleOfTheLeader() throws Exception {
        Engine engine = engines().main();
        HostPort port = joined(engine, network.newLinkSet());
        while (port.owned() == null) {
            Thread.sleep(1);
        }
        assertThat(port.link().localAddress().getPort()).isNotEqualTo(Frame.UDP_PORT);
        assertOneCycleReceivesEachDatagram(engine, port);
    }

    @Test
    void socketOfAProcessWithoutAnOwnerIsEmptyAfterOneCycleOfTheLeader() throws Exception {
        Engine engine = engines().main();
        LinkSet lasting = network.newLinkSet();
        lasting.openUdp(ADDRESS, Frame.UDP_PORT); // held by another program
        HostPort port = joined(engine, null);
        while (port.isConnected()) {
            Thread.sleep(1);
        }
        assertOneCycleReceivesEachDatagram(engine, port);
    }

    private void assertOneCycleReceivesEachDatagram(Engine engine, HostPort port) throws IOException {
        Link stranger = others.openUdp(ADDRESS, 0);
        engine.lock();
        try {
            for (int i = 0; i < 10; i++) {
                long before = engine.counters().receivedPackets;
                send(stranger, port.link().localAddress().getPort());
                leadOnce(engine);
                assertThat(engine.counters().receivedPackets - before).isEqualTo(1);
            }
        } finally {
            engine.unlock();
        }
    }

    /**
     * Returns the port of a process that has joined an owner that is played by this test and has exited.
     *
     * @param udp the links by which the owner binds the UDP port, or null if the port stays bound
     */
    private HostPort joined(Engine engine, @Nullable LinkSet udp) throws Exception {
        LinkSet first = udp == null ? network.newLinkSet() : udp;
        if (udp != null) {
            udp.openUdp(ADDRESS, Frame.UDP_PORT);
        }
        Path socket = RunDirectory.at(folder.resolve("run")).fileOfNamespace(RunDirectory.socketName(ADDRESS));
        LinkSet.LocalListener listener = first.listenLocal(socket);
        Thread owner = Thread.ofVirtual().start(() -> welcome(listener));
        HostPort port = sharing().openHostPort(engine, ADDRESS);
        owner.join();
        first.close();
        return port;
    }

    private static void welcome(LinkSet.LocalListener listener) {
        LocalChannel joined = listener.accept();
        while (joined == null) {
            Thread.onSpinWait();
            joined = listener.accept();
        }
        ByteBuffer welcome =
                ByteBuffer.wrap(new byte[] {RelayMessage.WELCOME, RelayMessage.VERSION, (byte) (SLOT - 1)});
        assertThat(joined.send(welcome, ByteBuffer.allocate(0))).isTrue();
    }
}
