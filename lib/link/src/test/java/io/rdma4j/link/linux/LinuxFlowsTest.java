package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Flow;
import io.rdma4j.link.Frames;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Flows of a Linux link: sockets that only send, which queue pairs share if there are many. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class LinuxFlowsTest {
    private static final int FIRST_PORT = 0xc200;
    private static final int SOCKETS = 128;

    private final InetAddress address = InetAddress.ofLiteral("127.0.81.7");

    @SuppressWarnings("NullAway.Init")
    private LinuxLinkSet set;

    @SuppressWarnings("NullAway.Init")
    private Link link;

    @BeforeEach
    void open() throws IOException {
        set = new LinuxLinkSet();
        link = set.openUdp(address, 0);
    }

    @AfterEach
    void close() {
        set.close();
    }

    private Flow flow(int port) {
        return Objects.requireNonNull(link.openFlow(port));
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        }
    }

    @Test
    void flowsBeyondTheLimitShareSockets() throws IOException {
        long before = descriptors();
        List<Flow> flows = new ArrayList<>();
        Set<Integer> ports = new HashSet<>();
        for (int i = 0; i < 3 * SOCKETS; i++) {
            Flow opened = flow(FIRST_PORT + i);
            flows.add(opened);
            ports.add(opened.sourcePort());
        }
        assertThat(ports).hasSize(SOCKETS);
        assertThat(descriptors()).isEqualTo(before + SOCKETS);
        flows.forEach(Flow::close);
        flows.forEach(Flow::close);
        assertThat(descriptors()).isEqualTo(before);
        assertThat(flow(FIRST_PORT + SOCKETS).sourcePort()).isEqualTo(FIRST_PORT + SOCKETS);
    }

    @Test
    void socketStaysOpenUntilItsLastFlowCloses() {
        Flow first = flow(FIRST_PORT);
        Flow second = flow(FIRST_PORT);
        first.close();
        assertThat(first.isOpen()).isFalse();
        assertThat(second.isOpen()).isTrue();
        second.close();
        assertThat(second.isOpen()).isFalse();
    }

    @Test
    void portOfAnotherSocketIsNotTaken() throws IOException {
        try (DatagramSocket other = new DatagramSocket(new InetSocketAddress(address, FIRST_PORT))) {
            assertThat(other.isBound()).isTrue();
            assertThat(link.openFlow(FIRST_PORT)).isNull();
        }
        assertThat(flow(FIRST_PORT).sourcePort()).isEqualTo(FIRST_PORT);
    }

    @Test
    void flowsEndWithTheirLink() throws IOException {
        Flow ofLink = flow(FIRST_PORT);
        link.close();
        assertThat(ofLink.isOpen()).isFalse();
        assertThat(link.openFlow(FIRST_PORT)).isNull();
        link = set.openUdp(address, 0);
        Flow ofSet = flow(FIRST_PORT);
        long before = descriptors();
        set.close();
        assertThat(ofSet.isOpen()).isFalse();
        assertThat(descriptors())
                .as("the sockets of the link and of the flow, and the event")
                .isEqualTo(before - 3);
    }

    /** Any process can send to the port of a flow, which nothing reads. */
    @Test
    void datagramsToAFlowHaveNoEffect() throws IOException {
        SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
        burst.destination(GidAddresses.high(address), GidAddresses.low(address), 0, 0);
        Flow flow = flow(FIRST_PORT);
        burst.destinationPort(FIRST_PORT);
        for (int i = 0; i < 1000; i++) {
            burst.clear();
            Frames.append(burst, 1000, 1);
            link.send(burst);
        }
        assertThat(set.await(0)).isTrue();
        burst.clear();
        burst.flow(flow);
        burst.destinationPort(link.localAddress().getPort());
        Frames.append(burst, 100, 2);
        link.send(burst);
        ReceiveBurst received = new ReceiveBurst(4);
        assertThat(link.poll(received)).isEqualTo(1);
        assertThat(received.frame(0).sourcePort).isEqualTo(FIRST_PORT);
    }
}
