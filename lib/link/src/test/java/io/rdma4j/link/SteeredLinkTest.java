package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.decorator.DecoratedLinkSet;
import io.rdma4j.link.decorator.FaultLink;
import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Several links on one address and port, and the distribution of frames to them. */
@Timeout(30)
class SteeredLinkTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.23");
    private static final int FRAME_BYTES = 32;
    private static final long NOTHING_MORE_NANOS = 20_000_000;

    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 64 * 1024);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    static List<InetAddress> addresses() throws IOException {
        InetAddress ipv6 = InetAddress.ofLiteral("::1");
        return NetworkInterface.getByInetAddress(ipv6) == null ? List.of(LOOPBACK) : List.of(LOOPBACK, ipv6);
    }

    private static LinkSet linux() throws IOException {
        return LinkSets.open("linux");
    }

    private static Link openSteered(LinkSet set, Link first, int from, int to) throws IOException {
        return Objects.requireNonNull(set.openSteered(first, from, to), "this system cannot steer frames");
    }

    /** Appends a frame that begins like a BTH. The byte before the queue pair number holds other fields. */
    private void append(int number) {
        burst.buffer().putInt(burst.tail(), 0x0400_ffff).putInt(burst.tail() + 4, 0xab00_0000 | number);
        burst.append(FRAME_BYTES);
    }

    private void send(Link sender, Link to, int... numbers) {
        for (int number : numbers) {
            burst.clear();
            Frames.address(burst, to.localAddress());
            append(number);
            sender.send(burst);
        }
    }

    private static int number(byte[] frame) {
        return ByteBuffer.wrap(frame).getInt(4) & 0xffffff;
    }

    /** Returns the queue pair numbers of {@code count} frames, and of any unexpected ones that follow. */
    private static List<Integer> numbers(LinkSet set, Link link, int count) {
        List<Integer> numbers = new ArrayList<>();
        Frames.receive(set, link, count).forEach(frame -> numbers.add(number(frame)));
        set.await(NOTHING_MORE_NANOS);
        ReceiveBurst unexpected = new ReceiveBurst(16);
        while (link.poll(unexpected) > 0) {
            for (int i = 0; i < unexpected.count(); i++) {
                numbers.add(number(Frames.bytes(unexpected.frame(i))));
            }
        }
        return numbers;
    }

    @ParameterizedTest
    @MethodSource("addresses")
    @EnabledOnOs(OS.LINUX)
    void framesAreDeliveredToTheLinkOfTheirRange(InetAddress address) throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                LinkSet three = linux();
                Link sender = one.openUdp(address, 0);
                Link first = one.openUdp(address, 0);
                Link low = openSteered(two, first, 0x10_8000, 0x10_bfff);
                Link high = openSteered(three, first, 0x10_c000, 0x10_ffff);
                Link single = openSteered(two, first, 0xff_ffff, 0xff_ffff)) {
            assertThat(List.of(low, high, single))
                    .allSatisfy(link -> assertThat(link.localAddress()).isEqualTo(first.localAddress()));
            assertThat(low.capabilities()).isEqualTo(first.capabilities());
            send(sender, first, 0, 1, 0x10_7fff, 0x10_8000, 0x10_9abc, 0x10_bfff);
            send(sender, first, 0x10_c000, 0x10_ffff, 0x11_0000, 0xff_fffe, 0xff_ffff);
            assertThat(numbers(one, first, 5)).containsExactly(0, 1, 0x10_7fff, 0x11_0000, 0xff_fffe);
            assertThat(numbers(two, low, 3)).containsExactly(0x10_8000, 0x10_9abc, 0x10_bfff);
            assertThat(numbers(three, high, 2)).containsExactly(0x10_c000, 0x10_ffff);
            assertThat(numbers(two, single, 1)).containsExactly(0xff_ffff);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void everyLinkSendsFromTheSharedPort() throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                Link to = one.openUdp(LOOPBACK, 0);
                Link first = one.openUdp(LOOPBACK, 0);
                Link steered = openSteered(two, first, 1, 2)) {
            send(steered, to, 7);
            ReceiveBurst received = new ReceiveBurst(1);
            while (to.poll(received) == 0) {
                one.await(Long.MAX_VALUE);
            }
            assertThat(received.frame(0).sourcePort)
                    .isEqualTo(first.localAddress().getPort());
        }
    }

    @ParameterizedTest
    @MethodSource("addresses")
    @EnabledOnOs(OS.LINUX)
    void burstIsDeliveredCompletelyToItsLink(InetAddress address) throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                Link sender = one.openUdp(address, 0);
                Link first = one.openUdp(address, 0);
                Link steered = openSteered(two, first, 0x100, 0x1ff)) {
            for (int round = 0; round < 3; round++) {
                burst.clear();
                Frames.address(burst, first.localAddress());
                for (int i = 0; i < 40; i++) {
                    append(0x123);
                }
                sender.send(burst);
                assertThat(numbers(two, steered, 40)).hasSize(40).containsOnly(0x123);
            }
            assertThat(first.poll(new ReceiveBurst(1))).isZero();
        }
    }

    /** The documented limitation for a burst that the system transports as one datagram. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void coalescedBurstIsDeliveredToTheLinkOfItsFirstFrame() throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                Link sender = one.openUdp(LOOPBACK, 0);
                Link first = one.openUdp(LOOPBACK, 0);
                Link steered = openSteered(two, first, 0x100, 0x1ff)) {
            assumeTrue(sender.capabilities().maxSegments() > 1);
            burst.clear();
            Frames.address(burst, first.localAddress());
            append(0x100);
            append(0x200);
            sender.send(burst);
            assertThat(numbers(two, steered, 2)).containsExactly(0x100, 0x200);
        }
    }

    @ParameterizedTest
    @MethodSource("addresses")
    @EnabledOnOs(OS.LINUX)
    void frameWithoutAQueuePairNumberIsDeliveredToTheFirstLink(InetAddress address) throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                Link sender = one.openUdp(address, 0);
                Link first = one.openUdp(address, 0);
                Link steered = openSteered(two, first, 0, 0xff_ffff)) {
            for (int bytes = 0; bytes < 8; bytes++) {
                Frames.send(sender, burst, first.localAddress(), bytes, bytes);
                assertThat(Frames.receive(one, first, 1)).containsExactly(Frames.filled(bytes, bytes));
            }
            Frames.send(sender, burst, first.localAddress(), 8, 8);
            assertThat(Frames.receive(two, steered, 1)).containsExactly(Frames.filled(8, 8));
        }
    }

    /** Linux moves the last socket to the number of the closed one. */
    @ParameterizedTest
    @MethodSource("addresses")
    @EnabledOnOs(OS.LINUX)
    void rangeOfAClosedLinkReturnsToTheFirstAndOtherRangesAreUnchanged(InetAddress address) throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                Link sender = one.openUdp(address, 0);
                Link first = one.openUdp(address, 0)) {
            Link closed = openSteered(two, first, 0x10, 0x1f);
            Link second = openSteered(two, first, 0x20, 0x2f);
            Link third = openSteered(two, first, 0x30, 0x3f);
            closed.close();
            closed.close();
            send(sender, first, 0x10, 0x20, 0x30, 0x40);
            assertThat(numbers(one, first, 2)).containsExactly(0x10, 0x40);
            assertThat(numbers(two, second, 1)).containsExactly(0x20);
            assertThat(numbers(two, third, 1)).containsExactly(0x30);
            try (Link again = openSteered(one, first, 0x18, 0x1f)) {
                send(sender, first, 0x10, 0x18, 0x20, 0x30);
                assertThat(numbers(one, first, 1)).containsExactly(0x10);
                assertThat(numbers(one, again, 1)).containsExactly(0x18);
                assertThat(numbers(two, second, 1)).containsExactly(0x20);
                assertThat(numbers(two, third, 1)).containsExactly(0x30);
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void closingASetRemovesItsLinksFromThePort() throws IOException {
        try (LinkSet one = linux();
                LinkSet three = linux();
                Link sender = one.openUdp(LOOPBACK, 0);
                Link first = one.openUdp(LOOPBACK, 0)) {
            LinkSet two = linux();
            openSteered(two, first, 0x10, 0x1f);
            Link third = openSteered(three, first, 0x20, 0x2f);
            two.close();
            send(sender, first, 0x10, 0x20);
            assertThat(numbers(one, first, 1)).containsExactly(0x10);
            assertThat(numbers(three, third, 1)).containsExactly(0x20);
        }
    }

    @ParameterizedTest
    @MethodSource("addresses")
    @EnabledOnOs(OS.LINUX)
    void portCannotBeBoundUntilItsLastLinkIsClosed(InetAddress address) throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux();
                LinkSet nio = LinkSets.portable()) {
            Link first = one.openUdp(address, 0);
            int port = first.localAddress().getPort();
            Link steered = openSteered(two, first, 1, 9);
            Link last = openSteered(two, first, 10, 19);
            for (LinkSet set : List.of(one, two, nio)) {
                assertThatThrownBy(() -> set.openUdp(address, port)).isInstanceOf(BindException.class);
            }
            steered.close();
            last.close();
            for (LinkSet set : List.of(one, two, nio)) {
                assertThatThrownBy(() -> set.openUdp(address, port)).isInstanceOf(BindException.class);
            }
            try (DatagramChannel reusing = DatagramChannel.open()) {
                reusing.setOption(StandardSocketOptions.SO_REUSEPORT, true);
                assertThatThrownBy(() -> reusing.bind(first.localAddress())).isInstanceOf(BindException.class);
            }
            openSteered(two, first, 1, 9).close();
            first.close();
            one.openUdp(address, port).close();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void openingASteeredLinkAtAClosedLinkFails() throws IOException {
        try (LinkSet one = linux();
                LinkSet two = linux()) {
            Link first = one.openUdp(LOOPBACK, 0);
            Link steered = openSteered(two, first, 1, 9);
            first.close();
            for (Link link : List.of(first, steered)) {
                assertThatThrownBy(() -> two.openSteered(link, 10, 19))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("127.0.0.23")
                        .hasMessageContaining("closed");
            }
            steered.close();
            assertThatThrownBy(() -> two.openSteered(first, 10, 19)).isInstanceOf(IOException.class);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void overlappingRangeIsRejectedAndNamed() throws IOException {
        try (LinkSet set = linux();
                Link first = set.openUdp(LOOPBACK, 0);
                Link steered = openSteered(set, first, 0x10, 0x1f)) {
            for (int[] range : new int[][] {{0x1f, 0x20}, {0, 0x10}, {0x12, 0x13}, {0, 0xff_ffff}}) {
                assertThatThrownBy(() -> set.openSteered(steered, range[0], range[1]))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("0x10 to 0x1f");
            }
            openSteered(set, steered, 0x20, 0x20).close();
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void invalidRangeIsRejected(String kind) throws IOException {
        try (LinkSet set = LinkSets.open(kind);
                Link first = set.openUdp(LOOPBACK, 0)) {
            for (int[] range : new int[][] {{-1, 5}, {6, 5}, {0, 0x100_0000}}) {
                assertThatThrownBy(() -> set.openSteered(first, range[0], range[1]))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("0x" + Integer.toHexString(range[1]));
            }
        }
    }

    @Test
    void linksOfOtherKindsCannotBeSteered() throws IOException {
        try (LinkSet nio = LinkSets.portable();
                LinkSet memory = new MemoryNetwork(1500).newLinkSet();
                Link nioLink = nio.openUdp(LOOPBACK, 0);
                Link memoryLink = memory.openUdp(LOOPBACK, 0)) {
            assertThat(nio.openSteered(nioLink, 1, 9)).isNull();
            assertThat(memory.openSteered(memoryLink, 1, 9)).isNull();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void decoratedNioAndMulticastLinksCannotBeSteered() throws IOException {
        LinkOptions capture = LinkOptions.NONE.withCaptureFile(folder.resolve("steered.pcapng"));
        try (LinkDecorator decorator = decorator(capture);
                LinkSet set = new DecoratedLinkSet(linux(), decorator);
                LinkSet undecorated = linux();
                LinkSet nio = LinkSets.portable();
                Link decorated = set.openUdp(LOOPBACK, 0);
                Link nioLink = nio.openUdp(LOOPBACK, 0);
                Link group = undecorated.openMulticast(InetAddress.ofLiteral("239.1.2.3"), 0, LOOPBACK)) {
            assertThat(set.openSteered(decorated, 1, 9)).isNull();
            assertThat(undecorated.openSteered(decorated, 1, 9)).isNull();
            assertThat(undecorated.openSteered(nioLink, 1, 9)).isNull();
            assertThat(undecorated.openSteered(group, 1, 9)).isNull();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void decoratedSetDecoratesSteeredLinks() throws IOException {
        LinkOptions faults = LinkOptions.NONE.withFaults(FaultSpec.parse("loss=1%"));
        try (LinkDecorator none = decorator(LinkOptions.NONE);
                LinkDecorator faulty = decorator(faults);
                LinkSet plain = new DecoratedLinkSet(linux(), none);
                LinkSet set = new DecoratedLinkSet(linux(), faulty);
                Link first = plain.openUdp(LOOPBACK, 0);
                Link steered = openSteered(plain, first, 1, 9);
                Link lossy = openSteered(set, first, 10, 19)) {
            assertThat(steered).isNotInstanceOf(ForwardingLink.class);
            assertThat(lossy).isInstanceOf(FaultLink.class);
        }
    }

    private static LinkDecorator decorator(LinkOptions options) throws IOException {
        return new LinkDecorator(options, () -> 0, () -> 0, line -> {});
    }

    /** One thread uses the first link while another thread opens further links with a separate set. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void framesOutsideAllRangesAreDeliveredToTheFirstLinkWhileOthersOpen() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        try (LinkSet one = linux();
                LinkSet two = linux();
                Link sender = one.openUdp(LOOPBACK, 0);
                Link first = one.openUdp(LOOPBACK, 0);
                Link _ = openSteered(two, first, 0x10, 0x1f)) {
            CompletableFuture<Integer> opened = CompletableFuture.supplyAsync(() -> open(two, first, done));
            int sent = 0;
            while (!done.get()) {
                send(sender, first, 0x1_0000 | sent);
                assertThat(Frames.receive(one, first, 1))
                        .extracting(SteeredLinkTest::number)
                        .containsExactly(0x1_0000 | sent);
                sent = (sent + 1) & 0xffff;
            }
            assertThat(opened.get()).isEqualTo(100);
            assertThat(first.statistics().receivedFrames.sum()).isPositive();
        }
    }

    /** Opens links, which are closed with their set: closing a link can lose frames of all ranges. */
    private static int open(LinkSet set, Link first, AtomicBoolean done) {
        try {
            int opened = 0;
            while (opened < 100) {
                Link _ = openSteered(set, first, 0x20 + 0x10 * opened, 0x2f + 0x10 * opened);
                opened++;
            }
            return opened;
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            done.set(true);
        }
    }
}
