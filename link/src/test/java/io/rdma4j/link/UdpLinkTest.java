package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.internal.GidAddresses;
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
        for (String kind : Kinds.all()) {
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
    void framesOfAllSizesArriveWhole(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            int largest = Math.min(SendBurst.MAX_FRAME_BYTES, to.capabilities().mtuBytes() - 48);
            int[] sizes = {16, 17, 64, 1024 + 48, 4096 + 64, SendBurst.MAX_FRAME_BYTES};
            for (int size : Arrays.stream(sizes)
                    .map(s -> Math.min(s, largest))
                    .distinct()
                    .toArray()) {
                Frames.send(from, burst, to.localAddress(), size, size);
                assertThat(Frames.receive(set, to, 1)).containsExactly(Frames.filled(size, size));
            }
        }
    }

    /** The links of the Java library alone cannot tell. */
    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void receivedFrameTellsItsTrafficClass(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            for (int trafficClass : new int[] {0, 0x28, 0, 0xe0}) {
                burst.clear();
                burst.destination(
                        GidAddresses.high(address),
                        GidAddresses.low(address),
                        GidAddresses.scope(address),
                        trafficClass);
                burst.destinationPort(to.localAddress().getPort());
                burst.append(16);
                from.send(burst);
                ReceiveBurst received = new ReceiveBurst(4);
                while (to.poll(received) == 0) {
                    set.await(Long.MAX_VALUE);
                }
                assertThat(received.frame(0).trafficClass).isEqualTo(kind.equals("nio") ? 0 : trafficClass);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void receivedFrameNamesSourceAndDestination(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            Frames.send(from, burst, to.localAddress(), 20, 1);
            ReceiveBurst received = new ReceiveBurst(4);
            while (to.poll(received) == 0) {
                set.await(Long.MAX_VALUE);
            }
            Frame frame = received.frame(0);
            assertThat(frame.sourceHigh).isEqualTo(GidAddresses.high(address));
            assertThat(frame.sourceLow).isEqualTo(GidAddresses.low(address));
            assertThat(frame.sourcePort).isEqualTo(from.localAddress().getPort());
            assertThat(frame.destinationHigh).isEqualTo(GidAddresses.high(address));
            assertThat(frame.destinationLow).isEqualTo(GidAddresses.low(address));
            assertThat(frame.destinationPort).isEqualTo(to.localAddress().getPort());
            if (address instanceof Inet4Address) {
                assertThat(frame.identification).isEqualTo(Frame.IDENTIFICATION_UNKNOWN);
            }
            assertThat(frame.buffer.get(frame.offset)).isEqualTo((byte) 1);
            assertThat(to.statistics().receivedFrames.sum()).isEqualTo(1);
            assertThat(from.statistics().sentFrames.sum()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void manyFramesArriveInOrderAndDistinct(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            burst.clear();
            Frames.address(burst, to.localAddress());
            for (int i = 0; i < 50; i++) {
                Frames.append(burst, i == 49 ? 100 : 200, i);
            }
            from.send(burst);
            List<byte[]> received = Frames.receive(set, to, 50);
            assertThat(received).hasSize(50);
            for (int i = 0; i < 50; i++) {
                assertThat(received.get(i)).isEqualTo(Frames.filled(i == 49 ? 100 : 200, i));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void framesLargerThanThePathOrWithoutReceiverAreCountedNotThrown(String kind, InetAddress address)
            throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0)) {
            Frames.send(from, burst, from.localAddress(), 65_530, 1);
            assertThat(from.statistics().sendFailures.sum()).isEqualTo(1);
            Link gone = set.openUdp(address, 0);
            gone.close();
            for (int i = 0; i < 3; i++) {
                Frames.send(from, burst, gone.localAddress(), 100, 1);
            }
            assertThat(from.statistics().sendFailures.sum()
                            + from.statistics().sentFrames.sum())
                    .isEqualTo(4);
            assertThat(from.poll(new ReceiveBurst(1))).isZero();
            Frames.send(gone, burst, from.localAddress(), 100, 1);
            assertThat(gone.statistics().sendFailures.sum()).isEqualTo(1);
            assertThat(gone.poll(new ReceiveBurst(1))).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void frameToTheOtherFamilyIsCounted(String kind, InetAddress address) throws IOException {
        InetAddress other = InetAddress.ofLiteral(address instanceof Inet4Address ? "::1" : "127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0)) {
            Frames.send(from, burst, new java.net.InetSocketAddress(other, 4791), 100, 1);
            assertThat(from.statistics().sendFailures.sum()).isEqualTo(1);
            assertThat(from.statistics().sentFrames.sum()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void takenPortIsABindExceptionThatNamesIt(String kind, InetAddress address) throws IOException {
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
    void thePortOfAClosedLinkIsFreeAtOnce(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                LinkSet other = LinkSets.open(kind)) {
            Link first = set.openUdp(address, 0);
            first.close();
            int port = first.localAddress().getPort();
            assertThat(other.openUdp(address, port).localAddress().getPort()).isEqualTo(port);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.Kinds#all")
    void foreignAddressIsABindException(String kind) throws IOException {
        InetAddress foreign = InetAddress.ofLiteral("192.0.2.77");
        try (LinkSet set = LinkSets.open(kind)) {
            assertThatThrownBy(() -> set.openUdp(foreign, 0))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("192.0.2.77");
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.Kinds#all")
    void oversizeDatagramIsDroppedAndCounted(String kind) throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            Frames.send(from, burst, to.localAddress(), SendBurst.MAX_FRAME_BYTES + 1, 1);
            Frames.send(from, burst, to.localAddress(), 32, 2);
            assertThat(Frames.receive(set, to, 1)).containsExactly(Frames.filled(32, 2));
            assertThat(to.statistics().oversizeDatagrams.sum()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.Kinds#all")
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
    @MethodSource("io.rdma4j.link.Kinds#all")
    void aFullBurstLeavesTheRestForTheNextPoll(String kind) throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            for (int i = 0; i < 5; i++) {
                Frames.send(from, burst, to.localAddress(), 20, i);
            }
            ReceiveBurst two = new ReceiveBurst(2);
            List<byte[]> received = new ArrayList<>();
            while (received.size() < 5) {
                assertThat(to.poll(two)).isBetween(1, 2);
                for (int i = 0; i < two.count(); i++) {
                    received.add(Frames.bytes(two.frame(i)));
                }
            }
            for (int i = 0; i < 5; i++) {
                assertThat(received.get(i)).isEqualTo(Frames.filled(20, i));
            }
            assertThat(to.poll(two)).isZero();
        }
    }

    /** Where the system coalesces them, they arrive by one call, and more of them than the burst can hold. */
    @ParameterizedTest
    @MethodSource("kindsAndAddresses")
    void segmentsOfOneBurstArriveAsTheFramesTheyWere(String kind, InetAddress address) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link from = set.openUdp(address, 0);
                Link to = set.openUdp(address, 0)) {
            for (int frames : new int[] {1, 2, 7, 63, 64}) {
                burst.clear();
                Frames.address(burst, to.localAddress());
                for (int i = 0; i < frames; i++) {
                    Frames.append(burst, i == frames - 1 ? 77 : 300, i);
                }
                from.send(burst);
                ReceiveBurst few = new ReceiveBurst(10);
                for (int i = 0; i < frames; ) {
                    while (to.poll(few) == 0) {
                        set.await(Long.MAX_VALUE);
                    }
                    for (int j = 0; j < few.count(); j++, i++) {
                        assertThat(Frames.bytes(few.frame(j))).isEqualTo(Frames.filled(i == frames - 1 ? 77 : 300, i));
                        if (from.capabilities().identificationCountsSegments() && address instanceof Inet4Address) {
                            assertThat(few.frame(j).presumedIdentification()).isEqualTo(i);
                        }
                    }
                }
            }
        }
    }

    @Test
    void unknownKindNamesTheKinds() {
        assertThatThrownBy(() -> LinkSets.open("fast"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'fast'")
                .hasMessageContaining("nio");
    }

    @Test
    void bestIsLinuxWhereNativeAccessIsEnabledAndThePropertyOverrides() throws IOException {
        try (LinkSet best = LinkSets.best()) {
            assertThat(best.name()).isEqualTo(Kinds.all().getLast());
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
