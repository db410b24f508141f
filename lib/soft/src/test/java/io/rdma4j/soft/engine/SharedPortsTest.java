package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.Sharing;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.Frame;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The error of a call names the reason why an address cannot be used. This test plays the role of the other processes.
 */
@Timeout(20)
class SharedPortsTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");
    private static final long PAUSE_NANOS = 100_000;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private final MemoryNetwork network = new MemoryNetwork(9000);
    private final LinkSet others = network.newLinkSet();

    @SuppressWarnings("NullAway.Init")
    private Sharing sharing;

    @SuppressWarnings("NullAway.Init")
    private Engines engines;

    @SuppressWarnings("NullAway.Init")
    private SharedPorts ports;

    @BeforeEach
    void start() throws Exception {
        LinkDecorator plain = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
        sharing = new Sharing(RunDirectory.at(folder.resolve("run")), new Random(1));
        engines =
                new Engines(1, network::newLinkSet, plain, sharing.slot(), StackClock.SYSTEM, null, new SecureRandom());
        ports = new SharedPorts(engines.main(), sharing, HostNetwork.SYSTEM);
    }

    @AfterEach
    void end() {
        engines.close();
        sharing.close();
    }

    private void assertRefused(InetAddress address, Errno errno, String... texts) {
        assertThatThrownBy(() -> ports.openHostPort(address))
                .asInstanceOf(InstanceOfAssertFactories.type(RdmaException.class))
                .matches(e -> e.errno() == errno, errno.name())
                .extracting(RdmaException::getMessage, InstanceOfAssertFactories.STRING)
                .contains(texts);
    }

    @Test
    void portOfAnotherProgramIsHeld() throws Exception {
        others.openUdp(ADDRESS, Frame.UDP_PORT);
        assertRefused(ADDRESS, Errno.EADDRINUSE, "UDP port 4791 of 127.0.0.1 is held by something", "rdma_rxe");
    }

    @Test
    void interruptedThreadGetsAnInterruptedError() throws Exception {
        others.openUdp(ADDRESS, Frame.UDP_PORT);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> ports.openHostPort(ADDRESS))
                .isInstanceOf(InterruptedRdmaException.class)
                .hasMessageContaining("the wait for UDP port 4791 of 127.0.0.1");
        assertThat(Thread.interrupted()).isTrue();
    }

    /** Otherwise the end of a listener would wait for an owner, and fail without one. */
    @Test
    void endOfAServiceOpensNoPort() throws Exception {
        ports.unregisterService(ADDRESS, 7);
        others.openUdp(ADDRESS, Frame.UDP_PORT); // free
    }

    @Test
    void addressOfAnotherHostIsNotAvailable() {
        assertRefused(
                InetAddress.ofLiteral("192.0.2.1"), Errno.EADDRNOTAVAIL, "192.0.2.1 is not an address of this host");
    }

    @Test
    void ownerThatEndsEachChannelHasAnotherVersion() throws Exception {
        others.openUdp(ADDRESS, Frame.UDP_PORT);
        Path socket = sharing.directory().fileOfNamespace("127.0.0.1.sock");
        LinkSet.LocalListener listener = others.listenLocal(socket);
        Thread owner = Thread.ofVirtual().start(() -> endAll(listener));
        try {
            assertRefused(
                    ADDRESS,
                    Errno.EADDRINUSE,
                    "the process that owns UDP port 4791 of 127.0.0.1 ends the connection of this process",
                    "Use one version of rdma4j in all processes");
        } finally {
            owner.interrupt();
            owner.join();
        }
    }

    private static void endAll(LinkSet.LocalListener listener) {
        while (!Thread.currentThread().isInterrupted()) {
            LocalChannel joined = listener.accept();
            if (joined != null) {
                joined.close();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
