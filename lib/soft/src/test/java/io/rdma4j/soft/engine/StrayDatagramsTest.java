package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.sharing.HostPort;
import io.rdma4j.sharing.Port;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.Sharing;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A datagram to a socket that only sends is received within one cycle of the leader.
 *
 * <p>If it stayed there, it would keep the leader from blocking.
 */
@Timeout(20)
class StrayDatagramsTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");

    @TempDir
    Path folder = Path.of("");

    private final MemoryNetwork network = new MemoryNetwork(9000);
    private final LinkSet others = network.newLinkSet();
    private final List<HostProcess> processes = new ArrayList<>();

    /** The parts of a process of this address. */
    private final class HostProcess {
        final Sharing sharing;
        final Engines engines;
        final SharedPorts ports;

        HostProcess() throws Exception {
            LinkDecorator plain = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
            sharing = new Sharing(RunDirectory.at(folder.resolve("run")), new Random(1));
            engines = new Engines(
                    2, network::newLinkSet, plain, sharing.slot(), StackClock.SYSTEM, null, new SecureRandom());
            ports = new SharedPorts(engines.main(), sharing, HostNetwork.SYSTEM);
            processes.add(this);
        }

        void end() {
            if (processes.remove(this)) {
                engines.close();
                sharing.close();
            }
        }
    }

    @AfterEach
    void end() {
        List.copyOf(processes).forEach(HostProcess::end);
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
        boolean _ = engine.leadCycle(() -> false, Engine.Poll.LINKS);
    }

    @Test
    void unsteeredSideSocketIsEmptyAfterOneCycleOfTheLeader() throws Exception {
        HostProcess process = new HostProcess();
        Engine side = process.engines.engine(1);
        Port port = process.ports.open(side, ADDRESS);
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
        HostProcess owner = new HostProcess();
        owner.ports.openHostPort(ADDRESS);
        HostProcess process = new HostProcess();
        HostPort port = process.ports.openHostPort(ADDRESS);
        owner.end();
        while (port.owned() == null) {
            Thread.sleep(1);
        }
        assertThat(port.link().localAddress().getPort()).isNotEqualTo(Frame.UDP_PORT);
        assertOneCycleReceivesEachDatagram(process.engines.main(), port);
    }

    @Test
    void socketOfAProcessWithoutAnOwnerIsEmptyAfterOneCycleOfTheLeader() throws Exception {
        HostProcess owner = new HostProcess();
        owner.ports.openHostPort(ADDRESS);
        HostProcess process = new HostProcess();
        HostPort port = process.ports.openHostPort(ADDRESS);
        process.engines.main().lock();
        try {
            owner.end();
            others.openUdp(ADDRESS, Frame.UDP_PORT); // held by another program
        } finally {
            process.engines.main().unlock();
        }
        while (port.isConnected()) {
            Thread.sleep(1);
        }
        assertOneCycleReceivesEachDatagram(process.engines.main(), port);
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
}
