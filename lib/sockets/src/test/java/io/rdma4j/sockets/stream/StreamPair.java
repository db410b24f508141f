package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.stream.StreamEnd.Posted;
import io.rdma4j.wire.rsocket.ControlWord;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Two connected ends in memory. Every data word is checked when it is posted: the peer must have granted the message,
 * and the bytes must go to the next position of the peer's ring, into space that it has freed.
 */
final class StreamPair {
    /** One direction, as counted by the test. */
    static final class Flow {
        final StreamEnd from;
        final StreamEnd to;
        final List<Posted> offers = new ArrayList<>();
        private final ArrayDeque<Integer> unread = new ArrayDeque<>();
        private long sentBytes;
        private long readBytes;
        private long wantedBytes;
        private long messages;
        private int partOfFirst;

        Flow(StreamEnd from, StreamEnd to) {
            this.from = from;
            this.to = to;
        }

        long messages() {
            return messages;
        }

        /** Inspects the requests posted since the last call. */
        private void inspect() {
            while (!from.fresh.isEmpty()) {
                check(from.fresh.remove());
            }
        }

        private void check(Posted request) {
            if (to.limits.receiveBytes() > 0) {
                sentBytes += request.isData() ? request.value() : 0; // the memory of the target checks the address
                return;
            }
            boolean isData = request.remoteKey() == to.memory.receiveKey() && request.bytes().length > 0;
            if (isData) {
                int ring = to.sizes.receiveBufferBytes();
                int length = request.bytes().length;
                assertThat(request.remoteAddress())
                        .as("next position that the peer reads")
                        .isEqualTo(to.memory.receiveAddress() + sentBytes % ring);
                assertThat(sentBytes % ring + length).as("end of the write").isLessThanOrEqualTo(ring);
                sentBytes += length;
                assertThat(sentBytes - readBytes).as("bytes unread").isLessThanOrEqualTo(ring);
                unread.add(length);
                messages++;
                assertThat(unread.size()).as("messages unread").isLessThanOrEqualTo(to.sizes.receiveQueue());
            }
            if (request.isCredit()) {
                offers.add(request);
            }
        }

        private void onRead(int count) {
            readBytes += count;
            int left = count + partOfFirst;
            while (!unread.isEmpty() && unread.element() <= left) {
                left -= unread.remove();
            }
            partOfFirst = left;
        }
    }

    final StreamEnd a;
    final StreamEnd b;
    final Flow toB;
    final Flow toA;

    StreamPair(StreamSizes sizesA, StreamSizes sizesB, boolean hasImmediate) {
        this(new StreamEnd(sizesA, hasImmediate, 0xa0), new StreamEnd(sizesB, hasImmediate, 0xb0));
    }

    StreamPair(StreamEnd a, StreamEnd b) {
        this.a = a;
        this.b = b;
        toB = new Flow(a, b);
        toA = new Flow(b, a);
        assertThat(a.protocol.onPeer(b.connectData())).isTrue();
        assertThat(b.protocol.onPeer(a.connectData())).isTrue();
    }

    /** Creates a connected pair in which each end knows the other's buffer. */
    static StreamPair started(StreamSizes sizes, boolean hasImmediate) {
        StreamPair pair = new StreamPair(sizes, sizes, hasImmediate);
        pair.a.protocol.start();
        pair.b.protocol.start();
        pair.deliver();
        return pair;
    }

    private Flow flow(StreamEnd from) {
        return from == a ? toB : toA;
    }

    /** Delivers one request of an end to the other, if there is one. */
    boolean deliverOne(StreamEnd from) {
        Flow flow = flow(from);
        flow.inspect();
        if (from.posted.isEmpty()) {
            return false;
        }
        Posted request = from.takePosted();
        flow.to.store(request.bytes(), request.remoteAddress(), request.remoteKey());
        if (request.word() != null) {
            flow.to.word(ControlWord.kind(request.word()), ControlWord.value(request.word()), request.bytes().length);
        }
        flow(flow.to).inspect();
        return true;
    }

    /** Delivers and acknowledges all requests. */
    void deliver() {
        boolean any = true;
        while (any) {
            any = deliverOne(a);
            any |= deliverOne(b);
            any |= completeOne(a);
            any |= completeOne(b);
        }
    }

    boolean completeOne(StreamEnd from) {
        if (from.delivered.isEmpty()) {
            return false;
        }
        from.complete();
        flow(from).inspect();
        return true;
    }

    /** Returns the byte at a position of a stream. */
    static byte byteAt(long place) {
        return (byte) (place * 31 + (place >> 8) * 7 + (place >> 16));
    }

    static byte[] bytesAt(long place, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = byteAt(place + i);
        }
        return bytes;
    }

    /** Writes the next bytes of a stream and returns their number. */
    int write(StreamEnd from, int length) {
        Flow flow = flow(from);
        int count = from.write(bytesAt(flow.wantedBytes, length));
        flow.wantedBytes += count;
        flow.inspect();
        return count;
    }

    /** Reads and checks available bytes and returns their number. */
    int read(StreamEnd at, int most) {
        Flow flow = at == a ? toA : toB;
        byte[] expected = bytesAt(flow.readBytes, most);
        ByteBuffer target = ByteBuffer.allocate(most);
        int count = at.protocol.read(target);
        assertThat(target.flip()).isEqualTo(ByteBuffer.wrap(expected, 0, count));
        flow.onRead(count);
        flow(at).inspect();
        return count;
    }

    /**
     * Sends this many bytes in both directions concurrently, in random pieces, with random deliveries and completions.
     */
    void exchange(long bytes, int maxAtOnce, SplittableRandom random) {
        long idle = 0;
        while (toA.readBytes < bytes || toB.readBytes < bytes) {
            boolean any = false;
            for (StreamEnd end : List.of(a, b)) {
                Flow flow = flow(end);
                int length = (int) Math.min(random.nextInt(1, maxAtOnce + 1), bytes - flow.wantedBytes);
                any |= random.nextBoolean() && length > 0 && write(end, length) > 0;
                any |= random.nextBoolean() && read(end, random.nextInt(1, maxAtOnce + 1)) > 0;
                for (int i = random.nextInt(4); i > 0; i--) {
                    any |= deliverOne(end);
                }
                for (int i = random.nextInt(4); i > 0; i--) {
                    any |= completeOne(end);
                }
                assertThat(end.protocol.failure()).isNull();
            }
            idle = any ? 0 : idle + 1;
            assertThat(idle).as("rounds in which nothing happened").isLessThan(1000);
        }
        deliver();
    }
}
