package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.link.internal.Groups;
import io.rdma4j.link.system.LinkSets;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Multicast groups through the kernel, on all interfaces of the machine or of the test's network namespace. */
@Timeout(30)
class MulticastLinkTest {
    private static final InetAddress IPV4_GROUP = InetAddress.ofLiteral("239.83.77.1");
    private static final InetAddress IPV6_GROUP = InetAddress.ofLiteral("ff15::5f:4d01");
    private static final InetAddress IPV6_LINK_GROUP = InetAddress.ofLiteral("ff12::5f:4d01");
    private static final long QUIET_NANOS = 50_000_000;

    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 256 * 1024);

    static Stream<Arguments> kindsGroupsAndAddresses() throws IOException {
        List<Arguments> all = new ArrayList<>();
        for (String kind : LinkKinds.all()) {
            for (InetAddress address : addresses()) {
                if (address instanceof Inet4Address) {
                    all.add(Arguments.of(kind, IPV4_GROUP, address));
                } else {
                    all.add(Arguments.of(kind, IPV6_GROUP, address));
                    all.add(Arguments.of(kind, IPV6_LINK_GROUP, address));
                }
            }
        }
        return all.stream();
    }

    /**
     * Returns one address of each family and interface. IPv6 on the loopback interface is excluded, since Linux has no
     * multicast route there.
     */
    private static List<InetAddress> addresses() throws IOException {
        List<InetAddress> addresses = new ArrayList<>();
        for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
            if (network.isUp()) {
                network.inetAddresses()
                        .filter(Inet4Address.class::isInstance)
                        .findFirst()
                        .ifPresent(addresses::add);
                network.inetAddresses()
                        .filter(address -> !(address instanceof Inet4Address)
                                && !network.getName().equals("lo"))
                        .findFirst()
                        .ifPresent(addresses::add);
            }
        }
        return addresses;
    }

    @ParameterizedTest
    @MethodSource("kindsGroupsAndAddresses")
    void everyLinkOfAGroupReceivesEveryFrameAndTheSenderNone(String kind, InetAddress group, InetAddress address)
            throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                LinkSet otherProcess = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0)) {
            int port = sender.localAddress().getPort();
            try (Link first = set.openMulticast(group, port, address);
                    Link second = set.openMulticast(group, port, address);
                    Link third = otherProcess.openMulticast(group, port, address)) {
                InetSocketAddress destination = new InetSocketAddress(group, port);
                Frames.send(sender, burst, destination, 100, 1);
                Frames.send(sender, burst, destination, 64, 2);
                List<byte[]> both = List.of(Frames.filled(100, 1), Frames.filled(64, 2));
                assertThat(Frames.receive(set, first, 2)).containsExactlyElementsOf(both);
                assertThat(Frames.receive(set, second, 2)).containsExactlyElementsOf(both);
                assertThat(Frames.receive(otherProcess, third, 2)).containsExactlyElementsOf(both);
                assertThat(sender.poll(new ReceiveBurst(4))).isZero();
                assertThat(sender.statistics().sentFrames.sum()).isEqualTo(2);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kindsGroupsAndAddresses")
    void multicastFrameHasSenderAndGroup(String kind, InetAddress group, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link member = set.openMulticast(group, sender.localAddress().getPort(), address)) {
            Frames.send(
                    sender,
                    burst,
                    new InetSocketAddress(group, member.localAddress().getPort()),
                    20,
                    1);
            ReceiveBurst received = new ReceiveBurst(4);
            while (member.poll(received) == 0) {
                set.await(Long.MAX_VALUE);
            }
            Frame frame = received.frame(0);
            assertThat(frame.sourceHigh).isEqualTo(GidAddresses.high(address));
            assertThat(frame.sourceLow).isEqualTo(GidAddresses.low(address));
            assertThat(frame.sourcePort).isEqualTo(sender.localAddress().getPort());
            assertThat(frame.destinationHigh).isEqualTo(GidAddresses.high(group));
            assertThat(frame.destinationLow).isEqualTo(GidAddresses.low(group));
            assertThat(frame.destinationPort).isEqualTo(member.localAddress().getPort());
        }
    }

    @ParameterizedTest
    @MethodSource("kindsGroupsAndAddresses")
    void groupIsReceivedOnItsInterfaceOnly(String kind, InetAddress group, InetAddress address) throws IOException {
        assumeTrue(
                !group.equals(IPV6_GROUP) || kind.equals("linux"),
                "NIO cannot determine on which interface a frame to an IPv6 group arrived");
        InetAddress otherAddress = addressOnAnotherInterface(address);
        assumeTrue(otherAddress != null, "needs two interfaces");
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0)) {
            int port = sender.localAddress().getPort();
            try (Link member = set.openMulticast(group, port, address);
                    Link otherInterface = set.openMulticast(group, port, otherAddress)) {
                Frames.send(sender, burst, new InetSocketAddress(group, port), 20, 1);
                assertThat(Frames.receive(set, member, 1)).hasSize(1);
                set.await(QUIET_NANOS);
                assertThat(otherInterface.poll(new ReceiveBurst(4))).isZero();
            }
        }
    }

    /**
     * Returns an address on another interface: the loopback interface, or a different one for a loopback address. Other
     * pairs of interfaces may be connected to each other.
     */
    private static @Nullable InetAddress addressOnAnotherInterface(InetAddress address) throws IOException {
        if (!address.isLoopbackAddress()) {
            return InetAddress.ofLiteral(address instanceof Inet4Address ? "127.0.0.1" : "::1");
        }
        for (InetAddress each : addresses()) {
            if (each instanceof Inet4Address && !each.isLoopbackAddress()) {
                return each;
            }
        }
        return null;
    }

    @ParameterizedTest
    @MethodSource("kindsGroupsAndAddresses")
    @EnabledOnOs(OS.LINUX)
    void hostIsAMemberWhileALinkIsOpen(String kind, InetAddress group, InetAddress address) throws IOException {
        String name = Interfaces.of(address).getName();
        try (LinkSet set = LinkSets.open(kind)) {
            assertThat(isMember(group, name)).isFalse();
            Link first = set.openMulticast(group, 4791, address);
            Link second = set.openMulticast(group, 4791, address);
            assertThat(isMember(group, name)).isTrue();
            first.close();
            assertThat(isMember(group, name)).isTrue();
            second.close();
            second.close();
            assertThat(isMember(group, name)).isFalse();
            var _ = set.openMulticast(group, 4791, address);
            assertThat(isMember(group, name)).isTrue();
        }
        assertThat(isMember(group, name)).isFalse();
    }

    /** Returns whether the kernel lists the membership; see proc(5) for {@code /proc/net/igmp}. */
    private static boolean isMember(InetAddress group, String interfaceName) throws IOException {
        if (group instanceof Inet4Address) {
            String hexadecimal = "%08X".formatted(Integer.reverseBytes((int) GidAddresses.low(group)));
            String current = "";
            for (String line : Files.readAllLines(Path.of("/proc/net/igmp"))) {
                String[] words = line.strip().split("\\s+", -1);
                if (!line.startsWith("\t")) {
                    current = words.length > 1 ? words[1] : "";
                } else if (current.equals(interfaceName) && words[0].equals(hexadecimal)) {
                    return true;
                }
            }
            return false;
        }
        String hexadecimal = "%016x%016x".formatted(GidAddresses.high(group), GidAddresses.low(group));
        return Files.readAllLines(Path.of("/proc/net/igmp6")).stream()
                .map(line -> line.toLowerCase(Locale.ROOT).strip().split("\\s+", -1))
                .anyMatch(words -> words[1].equals(interfaceName) && words[2].equals(hexadecimal));
    }

    @ParameterizedTest
    @MethodSource("kindsGroupsAndAddresses")
    void sendThroughAMulticastLinkCountsAsFailed(String kind, InetAddress group, InetAddress address)
            throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link member = set.openMulticast(group, 4791, address)) {
            Frames.send(member, burst, member.localAddress(), 20, 1);
            assertThat(member.statistics().sendFailures.sum()).isEqualTo(1);
            assertThat(member.statistics().sentFrames.sum()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kindsGroupsAndAddresses")
    void exclusivelyBoundPortCausesABindException(String kind, InetAddress group, InetAddress address)
            throws IOException {
        InetSocketAddress name = new InetSocketAddress(Groups.scoped(group, Interfaces.of(address)), 0);
        try (LinkSet set = LinkSets.open(kind);
                java.nio.channels.DatagramChannel exclusive = java.nio.channels.DatagramChannel.open(
                        group instanceof Inet4Address
                                ? java.net.StandardProtocolFamily.INET
                                : java.net.StandardProtocolFamily.INET6)) {
            exclusive.bind(name);
            int port = ((InetSocketAddress) exclusive.getLocalAddress()).getPort();
            assertThatThrownBy(() -> set.openMulticast(group, port, address))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("port " + port);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void invalidGroupOrAddressIsRejected(String kind) throws IOException {
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open(kind)) {
            assertThatThrownBy(() -> set.openMulticast(loopback, 4791, loopback))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("127.0.0.1 is not a multicast address");
            assertThatThrownBy(() -> set.openMulticast(IPV6_GROUP, 4791, loopback))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("family");
            assertThatThrownBy(() -> set.openMulticast(IPV4_GROUP, 4791, InetAddress.ofLiteral("203.0.113.77")))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("203.0.113.77");
        }
    }
}
