package io.rdma4j.link;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Helpers to send and receive frames with known contents. */
public final class Frames {
    private static final long TIMEOUT_NANOS = 5_000_000_000L;

    private Frames() {}

    /** Sets the destination of a burst. */
    public static void address(SendBurst burst, InetSocketAddress destination) {
        burst.destination(
                GidAddresses.high(destination.getAddress()),
                GidAddresses.low(destination.getAddress()),
                GidAddresses.scope(destination.getAddress()),
                0);
        burst.destinationPort(destination.getPort());
    }

    /** Appends a frame of {@code bytes} bytes, each of them {@code fill}. */
    public static void append(SendBurst burst, int bytes, int fill) {
        burst.segment().asSlice(burst.tail(), bytes).fill((byte) fill);
        burst.append(bytes);
    }

    /** Sends one frame of {@code bytes} bytes, each of them {@code fill}. */
    public static void send(Link link, SendBurst burst, InetSocketAddress destination, int bytes, int fill) {
        burst.clear();
        address(burst, destination);
        append(burst, bytes, fill);
        link.send(burst);
    }

    /** Returns a copy of the bytes of a frame. */
    public static byte[] bytes(Frame frame) {
        byte[] bytes = new byte[frame.length];
        int headers = frame.isSplit ? Frame.SPLIT_BYTES : frame.length;
        MemorySegment.copy(frame.segment, ValueLayout.JAVA_BYTE, frame.offset, bytes, 0, headers);
        if (frame.isSplit) {
            int rest = frame.length - headers;
            MemorySegment.copy(frame.body, ValueLayout.JAVA_BYTE, frame.bodyOffset + headers, bytes, headers, rest);
        }
        return bytes;
    }

    /** Returns the contents of {@code count} frames, or of as many as arrive within five seconds. */
    public static List<byte[]> receive(LinkSet set, Link link, int count) {
        List<byte[]> received = new ArrayList<>();
        ReceiveBurst burst = new ReceiveBurst(16);
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
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

    /** Returns an array of {@code bytes} bytes, each of them {@code fill}. */
    public static byte[] filled(int bytes, int fill) {
        byte[] array = new byte[bytes];
        MemorySegment.ofArray(array).fill((byte) fill);
        return array;
    }
}
