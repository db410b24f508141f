package io.rdma4j.link;

import io.rdma4j.link.internal.GidAddresses;
import io.rdma4j.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Helpers to send and receive frames of known content. */
final class Frames {
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private Frames() {}

    /** Addresses a burst. */
    static void address(SendBurst burst, InetSocketAddress to) {
        burst.destination(
                GidAddresses.high(to.getAddress()),
                GidAddresses.low(to.getAddress()),
                GidAddresses.scope(to.getAddress()),
                0);
        burst.destinationPort(to.getPort());
    }

    /** Appends a frame of {@code bytes} bytes, each of them {@code fill}. */
    static void append(SendBurst burst, int bytes, int fill) {
        burst.segment().asSlice(burst.tail(), bytes).fill((byte) fill);
        burst.append(bytes);
    }

    /** Sends one frame of {@code bytes} bytes, each of them {@code fill}. */
    static void send(Link link, SendBurst burst, InetSocketAddress to, int bytes, int fill) {
        burst.clear();
        address(burst, to);
        append(burst, bytes, fill);
        link.send(burst);
    }

    /** A copy of what a frame holds. */
    static byte[] bytes(Frame frame) {
        return frame.segment.asSlice(frame.offset, frame.length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Contents of {@code count} frames, or as many as arrive in five seconds. */
    static List<byte[]> receive(LinkSet set, Link link, int count) {
        List<byte[]> received = new ArrayList<>();
        ReceiveBurst burst = new ReceiveBurst(16);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (received.size() < count && System.nanoTime() < deadline) {
            if (link.poll(burst) == 0) {
                set.await(100_000_000);
            }
            for (int i = 0; i < burst.count(); i++) {
                received.add(bytes(burst.frame(i)));
            }
        }
        return received;
    }

    /** An array of {@code bytes} bytes, each of them {@code fill}. */
    static byte[] filled(int bytes, int fill) {
        byte[] array = new byte[bytes];
        MemorySegment.ofArray(array).fill((byte) fill);
        return array;
    }
}
