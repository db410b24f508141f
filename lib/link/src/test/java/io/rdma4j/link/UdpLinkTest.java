package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.system.LinkSets;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(30)
class UdpLinkTest {
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 256 * 1024);

    static Stream<Arguments> kindsAndAddresses() throws IOException {
        List<Arguments> all = new ArrayList<>();
        for (String kind : LinkKinds.all()) {
            for (InetAddress address : addresses()) {
                all.add(Arguments.of(kind, address));
            }
        }
        return all.stream();
    }

    private static List<InetAddress> addresses() throws IOException {
        List<InetAddress> addresses = new ArrayList<>(List.of(InetAddress.ofLiteral("127.0.0.1")));
        for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
            for (InetAddress address : network.inetAddresses().toList()) {
                if (network.isUp() && address instanceof Inet6Address) {
                    addresses.add(address);
                }
            }
        }
        return addresses;
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void framesOfAllSizesAreDeliveredUnchanged(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            int largest =
                    Math.min(SendBurst.MAX_FRAME_BYTES, receiver.capabilities().mtuBytes() - 48);
            int[] sizes = {16, 17, 64, 1024 + 48, 4096 + 64, SendBurst.MAX_FRAME_BYTES};
            for (int size : Arrays.stream(sizes)
                    .map(s -> Math.min(s, largest))
                    .distinct()
                    .toArray()) {
                Frames.send(sender, burst, receiver.localAddress(), size, size);
                assertThat(Frames.receive(set, receiver, 1)).containsExactly(Frames.filled(size, size));
            }
        }
    }

    /** NIO links cannot report the traffic class. */
    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void receivedFrameHasItsTrafficClass(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            for (int trafficClass : new int[] {0, 0x28, 0, 0xe0}) {
                burst.clear();
                burst.destination(
                        GidAddresses.high(address),
                        GidAddresses.low(address),
                        GidAddresses.scope(address),
                        trafficClass);
                burst.destinationPort(receiver.localAddress().getPort());
                burst.append(16);
                sender.send(burst);
                ReceiveBurst received = new ReceiveBurst(4);
                while (receiver.poll(received) == 0) {
                    set.await(Long.MAX_VALUE);
                }
                assertThat(received.frame(0).trafficClass).isEqualTo(kind.equals("nio") ? 0 : trafficClass);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void receivedFrameHasSourceAndDestination(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            Frames.send(sender, burst, receiver.localAddress(), 20, 1);
            ReceiveBurst received = new ReceiveBurst(4);
            while (receiver.poll(received) == 0) {
                set.await(Long.MAX_VALUE);
            }
            Frame frame = received.frame(0);
            assertThat(frame.sourceHigh).isEqualTo(GidAddresses.high(address));
            assertThat(frame.sourceLow).isEqualTo(GidAddresses.low(address));
            assertThat(frame.sourcePort).isEqualTo(sender.localAddress().getPort());
            assertThat(frame.destinationHigh).isEqualTo(GidAddresses.high(address));
            assertThat(frame.destinationLow).isEqualTo(GidAddresses.low(address));
            assertThat(frame.destinationPort).isEqualTo(receiver.localAddress().getPort());
            if (address instanceof Inet4Address) {
                assertThat(frame.identification).isEqualTo(Frame.IDENTIFICATION_UNKNOWN);
            }
            assertThat(frame.buffer.get(frame.offset)).isEqualTo((byte) 1);
            assertThat(receiver.statistics().receivedFrames.sum()).isEqualTo(1);
            assertThat(sender.statistics().sentFrames.sum()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void manyFramesAreDeliveredInOrderWithoutDuplicates(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            burst.clear();
            Frames.address(burst, receiver.localAddress());
            for (int i = 0; i < 50; i++) {
                Frames.append(burst, i == 49 ? 100 : 200, i);
            }
            sender.send(burst);
            List<byte[]> received = Frames.receive(set, receiver, 50);
            assertThat(received).hasSize(50);
            for (int i = 0; i < 50; i++) {
                assertThat(received.get(i)).isEqualTo(Frames.filled(i == 49 ? 100 : 200, i));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void oversizedFramesAndFramesWithoutReceiverAreCounted(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0)) {
            Frames.send(sender, burst, sender.localAddress(), 65_530, 1);
            assertThat(sender.statistics().sendFailures.sum()).isEqualTo(1);
            Link closed = set.openUdp(address, 0);
            closed.close();
            for (int i = 0; i < 3; i++) {
                Frames.send(sender, burst, closed.localAddress(), 100, 1);
            }
            assertThat(sender.statistics().sendFailures.sum()
                            + sender.statistics().sentFrames.sum())
                    .isEqualTo(4);
            assertThat(sender.poll(new ReceiveBurst(1))).isZero();
            Frames.send(closed, burst, sender.localAddress(), 100, 1);
            assertThat(closed.statistics().sendFailures.sum()).isEqualTo(1);
            assertThat(closed.poll(new ReceiveBurst(1))).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void frameToTheOtherFamilyIsCounted(String kind, InetAddress address) throws IOException {
        InetAddress other = InetAddress.ofLiteral(address instanceof Inet4Address ? "::1" : "127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0)) {
            Frames.send(sender, burst, new java.net.InetSocketAddress(other, 4791), 100, 1);
            assertThat(sender.statistics().sendFailures.sum()).isEqualTo(1);
            assertThat(sender.statistics().sentFrames.sum()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void portInUseCausesABindExceptionThatNamesIt(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link first = set.openUdp(address, 0)) {
            int port = first.localAddress().getPort();
            assertThatThrownBy(() -> set.openUdp(address, port))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("port " + port)
                    .hasMessageContaining("in use");
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void portOfAClosedLinkIsFreeAtOnce(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                LinkSet other = LinkSets.open(kind)) {
            Link first = set.openUdp(address, 0);
            first.close();
            int port = first.localAddress().getPort();
            assertThat(other.openUdp(address, port).localAddress().getPort()).isEqualTo(port);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void nonLocalAddressCausesABindException(String kind) throws IOException {
        InetAddress foreign = InetAddress.ofLiteral("192.0.2.77");
        try (LinkSet set = LinkSets.open(kind)) {
            assertThatThrownBy(() -> set.openUdp(foreign, 0))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("192.0.2.77");
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void oversizeDatagramIsDroppedAndCounted(String kind) throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            Frames.send(sender, burst, receiver.localAddress(), SendBurst.MAX_FRAME_BYTES + 1, 1);
            Frames.send(sender, burst, receiver.localAddress(), 32, 2);
            assertThat(Frames.receive(set, receiver, 1)).containsExactly(Frames.filled(32, 2));
            assertThat(receiver.statistics().oversizeDatagrams.sum()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void everyLoopbackAddressHasTheLoopbackMtu(String kind) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link one = set.openUdp(InetAddress.ofLiteral("127.0.0.1"), 0);
                Link other = set.openUdp(InetAddress.ofLiteral("127.9.8.7"), 0)) {
            assertThat(one.capabilities().mtuBytes()).isGreaterThanOrEqualTo(16384);
            assertThat(other.capabilities().mtuBytes())
                    .isEqualTo(one.capabilities().mtuBytes());
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void fullBurstLeavesTheRestForTheNextPoll(String kind) throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            for (int i = 0; i < 5; i++) {
                Frames.send(sender, burst, receiver.localAddress(), 20, i);
            }
            ReceiveBurst two = new ReceiveBurst(2);
            List<byte[]> received = new ArrayList<>();
            while (received.size() < 5) {
                assertThat(receiver.poll(two)).isBetween(1, 2);
                for (int i = 0; i < two.count(); i++) {
                    received.add(Frames.bytes(two.frame(i)));
                }
            }
            for (int i = 0; i < 5; i++) {
                assertThat(received.get(i)).isEqualTo(Frames.filled(20, i));
            }
            assertThat(receiver.poll(two)).isZero();
        }
    }

    /** If the system coalesces the frames, one call receives all of them, more than the burst can hold. */
    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void segmentsOfOneBurstAreDeliveredAsSeparateFrames(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link sender = set.openUdp(address, 0);
                Link receiver = set.openUdp(address, 0)) {
            for (int frames : new int[] {1, 2, 7, 63, 64}) {
                burst.clear();
                Frames.address(burst, receiver.localAddress());
                for (int i = 0; i < frames; i++) {
                    Frames.append(burst, i == frames - 1 ? 77 : 300, i);
                }
                sender.send(burst);
                ReceiveBurst few = new ReceiveBurst(10);
                for (int i = 0; i < frames; ) {
                    while (receiver.poll(few) == 0) {
                        set.await(Long.MAX_VALUE);
                    }
                    for (int j = 0; j < few.count(); j++, i++) {
                        assertThat(Frames.bytes(few.frame(j))).isEqualTo(Frames.filled(i == frames - 1 ? 77 : 300, i));
                        if (sender.capabilities().identificationCountsSegments() && address instanceof Inet4Address) {
                            assertThat(few.frame(j).presumedIdentification()).isEqualTo(i);
                        }
                    }
                }
            }
        }
    }

    @Test
    void unknownKindIsRejectedWithTheValidKinds() {
        assertThatThrownBy(() -> LinkSets.open("fast"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'fast'")
                .hasMessageContaining("nio");
    }

    @Test
    void bestIsLinuxWithNativeAccessUnlessThePropertyOverridesIt() throws IOException {
        try (LinkSet best = LinkSets.best()) {
            assertThat(best.name()).isEqualTo(LinkKinds.all().getLast());
        }
        System.setProperty(LinkSets.KIND_PROPERTY, "nio");
        try (LinkSet best = LinkSets.best()) {
            assertThat(best.name()).isEqualTo("nio");
            System.setProperty(LinkSets.KIND_PROPERTY, "pigeon");
            assertThatThrownBy(LinkSets::best)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(LinkSets.KIND_PROPERTY)
                    .hasMessageContaining("'pigeon'");
        } finally {
            System.clearProperty(LinkSets.KIND_PROPERTY);
        }
    }
}
