package io.rdma4j.link.linux;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Frames;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.SendRing;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Two link sets, as in two processes, and a listener of one set for rings of the other. */
abstract class RingEnds {
    static final long SOURCE_HIGH = 0x2001_0db8_0000_0001L;
    static final long SOURCE_LOW = 21;
    static final int SOURCE_PORT = 0xd001;
    static final int FRAME_BYTES = 200;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @SuppressWarnings("NullAway.Init")
    Path path;

    @SuppressWarnings("NullAway.Init")
    LinuxLinkSet sender;

    @SuppressWarnings("NullAway.Init")
    LinuxLinkSet receiver;

    @SuppressWarnings("NullAway.Init")
    RingListener listener;

    final SendBurst burst = new SendBurst(Arena.ofAuto(), 1 << 16);

    /** Java opens a descriptor, and keeps it, when it first uses such a channel. */
    @BeforeAll
    static void useChannel() throws IOException {
        SocketChannel.open(StandardProtocolFamily.UNIX).close();
    }

    @BeforeEach
    void open() throws IOException {
        path = folder.resolve("r.sock");
        sender = new LinuxLinkSet();
        receiver = new LinuxLinkSet();
        listener = receiver.listenForRings(path, false);
    }

    @AfterEach
    void close() {
        sender.close();
        receiver.close();
    }

    SendRing connect() throws IOException {
        return sender.connectRing(path, SOURCE_HIGH, SOURCE_LOW);
    }

    ReceiveRing accept() {
        for (int i = 0; i < 50; i++) {
            ReceiveRing ring = listener.accept();
            if (ring != null) {
                return ring;
            }
            receiver.await(100_000_000);
        }
        throw new AssertionError("no ring was handed over");
    }

    static boolean send(SendRing ring, SendBurst burst, int... fills) {
        burst.clear();
        for (int fill : fills) {
            Frames.append(burst, FRAME_BYTES, fill);
        }
        return ring.send(burst, SOURCE_PORT);
    }

    boolean send(SendRing ring, int... fills) {
        return send(ring, burst, fills);
    }

    /** Returns the first bytes of the frames that are pending. */
    static List<Integer> poll(ReceiveRing ring) {
        List<Integer> fills = new ArrayList<>();
        ReceiveBurst received = new ReceiveBurst(16);
        while (ring.poll(received, 0, 0, 16) > 0) {
            for (int i = 0; i < received.count(); i++) {
                byte[] frame = Frames.bytes(received.frame(i));
                assertThat(frame).isEqualTo(Frames.filled(FRAME_BYTES, frame[0]));
                fills.add((int) frame[0]);
            }
            received.clear();
        }
        return fills;
    }

    /** Waits until frames have arrived, and returns their first bytes. A lost wakeup hangs the test. */
    static List<Integer> awaitFrames(LinkSet set, ReceiveRing ring) {
        List<Integer> fills = poll(ring);
        while (fills.isEmpty()) {
            set.await(Long.MAX_VALUE);
            fills = poll(ring);
        }
        return fills;
    }

    /** Waits until the sender has ended, and returns the first bytes of the frames that it wrote before. */
    List<Integer> awaitEnd(ReceiveRing ring) {
        List<Integer> fills = new ArrayList<>();
        while (!ring.isEnded()) {
            receiver.await(Long.MAX_VALUE);
            fills.addAll(poll(ring));
        }
        fills.addAll(poll(ring));
        return fills;
    }

    void assertRingsAreStillAccepted() throws IOException {
        try (SendRing ring = connect();
                ReceiveRing accepted = accept()) {
            assertThat(send(ring, 1, 2, 3)).isTrue();
            assertThat(poll(accepted)).containsExactly(1, 2, 3);
        }
    }

    /** Returns the number of open sockets, files in memory and files of this test. */
    long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.map(RingEnds::target)
                    .filter(target -> target.startsWith("socket:")
                            || target.startsWith("/memfd:")
                            || target.startsWith(folder.toString()))
                    .count();
        }
    }

    static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // it was that of the list
        }
    }

    /** Returns the number of mappings of rings. */
    static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"), ISO_8859_1)) {
            return lines.filter(line -> line.contains("/memfd:rdma4j-ring")).count();
        }
    }
}
