package io.rdma4j.link.decorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.Frames;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.memory.MemoryNetwork;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class LinkDecoratorTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress TWO = InetAddress.ofLiteral("fd00::2");

    private final MemoryNetwork network = new MemoryNetwork(1500);
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
    private final ReceiveBurst received = new ReceiveBurst(16);
    private final List<String> lines = new ArrayList<>();
    private long now = 1_000_000_000;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private LinkDecorator decorator(LinkOptions options) throws IOException {
        return new LinkDecorator(options, () -> now, () -> now, lines::add);
    }

    @Test
    void withoutOptionsLinksAreNotWrapped() throws IOException {
        try (LinkSet set = network.newLinkSet();
                LinkDecorator none = decorator(LinkOptions.NONE)) {
            Link link = set.openUdp(ONE, 0);
            assertThat(none.decorate(link)).isSameAs(link);
        }
    }

    @Test
    void traceWritesOneLinePerFrameWithTimeDirectionAndContent() throws IOException {
        try (LinkDecorator trace = decorator(LinkOptions.NONE.withTrace());
                LinkSet set = new DecoratedLinkSet(network.newLinkSet(), trace)) {
            Link link = set.openUdp(TWO, 4791);
            now += 1_002_003_000;
            burst.clear();
            Frames.address(burst, link.localAddress());
            burst.buffer()
                    .putInt(0, 0x0400_ffff)
                    .putInt(4, 0x11)
                    .putInt(8, 0x8000_0001)
                    .putInt(12, 0);
            burst.append(16);
            link.send(burst);
            now += 999_000_000;
            link.poll(received);
            assertThat(lines)
                    .satisfiesExactly(
                            out -> assertThat(out)
                                    .startsWith("    1.002003 out fd00::2 > fd00::2 RC_SEND_ONLY qp 0x11 psn 1"),
                            in -> assertThat(in)
                                    .startsWith("    2.001003 in  fd00::2 > fd00::2 RC_SEND_ONLY qp 0x11 psn 1"));
        }
    }

    @Test
    void captureAndTraceShowTheWireAndNotFramesDroppedBeforeIt() throws IOException {
        Path file = folder.resolve("wire.pcapng");
        LinkOptions options =
                LinkOptions.NONE.withCaptureFile(file).withTrace().withFaults(FaultSpec.parse("loss=50%,seed=5"));
        int out = 0;
        int in = 0;
        try (LinkDecorator all = decorator(options);
                LinkSet set = new DecoratedLinkSet(network.newLinkSet(), all)) {
            Link link = set.openUdp(ONE, 4791);
            int delivered = 0;
            for (int i = 0; i < 100; i++) {
                Frames.send(link, burst, link.localAddress(), 20, i);
                delivered += link.poll(received);
            }
            for (PcapngReader.Packet packet : PcapngReader.read(file)) {
                out += packet.flags() == 2 ? 1 : 0;
                in += packet.flags() == 1 ? 1 : 0;
            }
            FaultLink faults = (FaultLink) link;
            assertThat(out)
                    .isEqualTo(100 - faults.outboundCounts().lost.intValue())
                    .isBetween(35, 65);
            assertThat(in).isEqualTo(out);
            assertThat(delivered).isEqualTo(in - faults.inboundCounts().lost.intValue());
            assertThat(lines).hasSize(out + in);
        }
    }

    @Test
    void optionsAreReadFromSystemProperties() {
        // The tests also run with the environment variable "off".
        System.setProperty(LinkOptions.SHARED_MEMORY_PROPERTY, "on");
        try {
            assertThat(LinkOptions.fromSystemProperties()).isEqualTo(LinkOptions.NONE);
            System.setProperty(LinkOptions.CAPTURE_PROPERTY, "a.pcapng");
            System.setProperty(LinkOptions.FAULT_PROPERTY, "loss=1%");
            System.setProperty(LinkOptions.TRACE_PROPERTY, "true");
            assertThat(LinkOptions.fromSystemProperties())
                    .isEqualTo(new LinkOptions(Path.of("a.pcapng"), FaultSpec.parse("loss=1%"), true, true));
            System.setProperty(LinkOptions.FAULT_PROPERTY, "loss=a lot");
            assertThatThrownBy(LinkOptions::fromSystemProperties)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(LinkOptions.FAULT_PROPERTY)
                    .hasMessageContaining("a lot");
        } finally {
            System.clearProperty(LinkOptions.CAPTURE_PROPERTY);
            System.clearProperty(LinkOptions.FAULT_PROPERTY);
            System.clearProperty(LinkOptions.TRACE_PROPERTY);
            System.clearProperty(LinkOptions.SHARED_MEMORY_PROPERTY);
        }
    }
}
