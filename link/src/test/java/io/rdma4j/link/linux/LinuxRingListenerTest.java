package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendRing;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rings are taken from processes that hand one over, whatever others do. */
@Timeout(60)
class LinuxRingListenerTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @BeforeEach
    void needsSystemCalls() {
        assumeTrue(Files.exists(Path.of("/proc/self/maps"))
                && Link.class.getModule().isNativeAccessEnabled());
    }

    @Test
    void connectionsWithoutARingDoNotKeepRingsOut() throws Exception {
        Path path = folder.resolve("rings");
        List<SocketChannel> crowd = new ArrayList<>();
        try (LinuxLinkSet set = new LinuxLinkSet();
                RingListener listener = set.listenForRings(path, false)) {
            for (int i = 0; i < 600; i++) {
                SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                crowd.add(channel);
                assertThat(channel.connect(UnixDomainSocketAddress.of(path))).isTrue();
                assertThat(listener.accept()).isNull();
            }
            try (SendRing sender = set.connectRing(path, 0, 1)) {
                @Nullable ReceiveRing ring = listener.accept();
                assertThat(ring).isNotNull();
                assertThat(sender.isEnded()).isFalse();
                if (ring != null) {
                    ring.close();
                }
            }
        } finally {
            for (SocketChannel channel : crowd) {
                channel.close();
            }
        }
    }
}
