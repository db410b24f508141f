package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A link opened on a port that another process holds receives everything that arrives there. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class BesideLinkTest {
    private static final int FRAME_BYTES = 32;

    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 64 * 1024);
    private final List<LinkSet> sets = new ArrayList<>();
    private final int port = ThreadLocalRandom.current().nextInt(20_000, 30_000);

    @AfterEach
    void close() {
        sets.forEach(LinkSet::close);
    }

    /** Returns the set of another process. */
    private LinkSet process() throws IOException {
        LinkSet set = LinkSets.open("linux");
        sets.add(set);
        return set;
    }

    private void send(Link from, InetAddress to, int count) {
        for (int i = 0; i < count; i++) {
            burst.clear();
            Frames.address(burst, new InetSocketAddress(to, port));
            burst.buffer().putInt(burst.tail(), i);
            burst.append(FRAME_BYTES);
            from.send(burst);
        }
    }

    private static int received(Link link) {
        ReceiveBurst burst = new ReceiveBurst(64);
        int count = 0;
        for (int idle = 0; idle < 20; idle++) {
            int now = link.poll(burst);
            count += now;
            if (now > 0) {
                idle = 0;
            }
        }
        return count;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void successorReceivesEverythingAndTheFormerLinkStillSends(String text) throws IOException {
        InetAddress address = InetAddress.ofLiteral(text);
        LinkSet senders = process();
        Link first = process().openUdp(address, port);
        Link second = process().openBeside(address, port);
        assertThat(second.localAddress().getPort()).isEqualTo(port);
        int probes = received(first);
        // Seven of the first eight, and one for each time that the result is checked.
        assertThat(probes).as("probes left there").isLessThan(16);
        for (int i = 0; i < 32; i++) {
            send(senders.openUdp(address, 0), address, 4); // each sender has another hash
        }
        assertThat(received(second)).isEqualTo(128);
        assertThat(received(first)).isZero();
        send(first, address, 3);
        assertThat(received(second)).as("frames from the former link").isEqualTo(3);
    }

    @Test
    void chainOfSuccessorsSurvivesTheEndOfAnyOfThem() throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        LinkSet senders = process();
        Link first = process().openUdp(address, port);
        Link second = process().openBeside(address, port);
        Link third = process().openBeside(address, port);
        Link last = process().openBeside(address, port);
        assertAllArriveAt(last, senders, address);
        second.close(); // the system gives another link its number
        assertAllArriveAtSoon(last, senders, address);
        first.close();
        assertAllArriveAtSoon(last, senders, address);
        assertThat(received(third)).isGreaterThanOrEqualTo(0);
        third.close();
        assertAllArriveAtSoon(last, senders, address);
    }

    private void assertAllArriveAtSoon(Link link, LinkSet senders, InetAddress address) throws IOException {
        for (int i = 0; i < 3; i++) {
            link.claimInput();
            int _ = received(link);
        }
        assertAllArriveAt(link, senders, address);
    }

    private void assertAllArriveAt(Link link, LinkSet senders, InetAddress address) throws IOException {
        for (int i = 0; i < 16; i++) {
            Link sender = senders.openUdp(address, 0);
            send(sender, address, 2);
            sender.close();
        }
        assertThat(received(link)).isEqualTo(32);
    }

    @Test
    void portIsStillBoundExclusively() throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        var _ = process().openUdp(address, port);
        LinkSet other = process();
        assertThatThrownBy(() -> other.openUdp(address, port)).isInstanceOf(BindException.class);
        var _ = other.openBeside(address, port);
        LinkSet third = process();
        assertThatThrownBy(() -> third.openUdp(address, port)).isInstanceOf(BindException.class);
    }

    @Test
    void portOfAProcessThatDoesNotAllowItCannotBeTaken() throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet portable = LinkSets.portable()) {
            var _ = portable.openUdp(address, port);
            LinkSet other = process();
            assertThatThrownBy(() -> other.openBeside(address, port)).isInstanceOf(BindException.class);
            assertThat(portable.opensBeside()).isFalse();
            assertThatThrownBy(() -> portable.openBeside(address, port)).isInstanceOf(BindException.class);
        }
    }

    @Test
    void datagramThatOnlyLooksLikeAProbeIsDelivered() throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        var _ = process().openUdp(address, port);
        Link second = process().openBeside(address, port);
        try (DatagramChannel stranger = DatagramChannel.open()) {
            stranger.send(ByteBuffer.wrap(new byte[12]), second.localAddress());
        }
        assertThat(received(second)).isEqualTo(1);
    }
}
