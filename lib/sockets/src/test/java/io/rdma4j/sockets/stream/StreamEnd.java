package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream with its memory, and a port that holds requests until a test delivers and completes them. It
 * checks invariants: the send queue is not overrun, and the bytes of outstanding requests are not overwritten.
 */
final class StreamEnd implements StreamPort {
    /** A posted request. The word is null for a write without a control word. */
    static final class Posted {
        private final long id;
        private final List<MemorySegment> pieces;
        private final byte[] bytes;
        private final long remoteAddress;
        private final int remoteKey;
        private final @Nullable Integer word;
        private final boolean isSend;

        Posted(
                long id,
                List<MemorySegment> pieces,
                long remoteAddress,
                int remoteKey,
                @Nullable Integer word,
                boolean isSend) {
            this.id = id;
            this.pieces = pieces;
            this.remoteAddress = remoteAddress;
            this.remoteKey = remoteKey;
            this.word = word;
            this.isSend = isSend;
            bytes = bytesNow();
        }

        long id() {
            return id;
        }

        byte[] bytes() {
            return bytes;
        }

        long remoteAddress() {
            return remoteAddress;
        }

        int remoteKey() {
            return remoteKey;
        }

        @Nullable
        Integer word() {
            return word;
        }

        boolean isSend() {
            return isSend;
        }

        int kind() {
            return word == null ? -1 : ControlWord.kind(word);
        }

        int value() {
            return word == null ? -1 : ControlWord.value(word);
        }

        boolean isCredit() {
            return kind() == ControlWord.CREDIT;
        }

        boolean isData() {
            return kind() == ControlWord.DATA;
        }

        BufferDescriptor descriptor(ByteOrder order) {
            assertThat(bytes).hasSize(BufferDescriptor.LENGTH);
            return BufferDescriptor.read(ByteBuffer.wrap(bytes).order(order), 0);
        }

        MappingEntry mapping(ByteOrder order) {
            assertThat(bytes).hasSize(MappingEntry.LENGTH);
            return MappingEntry.read(ByteBuffer.wrap(bytes).order(order), 0);
        }

        /** Reads the bytes again, like a queue pair that sends them now. */
        byte[] bytesNow() {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (MemorySegment piece : pieces) {
                all.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE));
            }
            return all.toByteArray();
        }
    }

    final StreamSizes sizes;
    final BufferLimits limits;
    final StreamMemory memory;
    final StreamProtocol protocol;
    final MemorySegment mapped = MemorySegment.ofArray(new byte[10_000]);
    final long mappedAddress;
    final int mappedKey;

    /** Requests that were posted but not inspected by the test, if the test inspects requests. */
    final ArrayDeque<Posted> fresh = new ArrayDeque<>();

    /** Requests that were posted but not delivered. */
    final ArrayDeque<Posted> posted = new ArrayDeque<>();

    /** Requests that were delivered but not completed. */
    final ArrayDeque<Posted> delivered = new ArrayDeque<>();

    /** Memory by which the receive buffer has grown, by key. */
    final Map<Integer, ReceiveMemory> received = new HashMap<>();

    /** Memory by which the send buffer has grown. */
    final List<SendMemory> toSend = new ArrayList<>();

    private int allocations;

    private final boolean hasImmediate;

    /** Creates an end with new addresses and keys. */
    StreamEnd(StreamSizes sizes, boolean hasImmediate, int number) {
        this(sizes, BufferLimits.FIXED, hasImmediate, piece(number, 2), piece(number, 1));
    }

    /** Creates an end with immediate data, and with buffers that grow. */
    static StreamEnd growing(StreamSizes sizes, BufferLimits limits, int number) {
        return new StreamEnd(sizes, limits, true, piece(number, 2), piece(number, 1));
    }

    private static BufferDescriptor piece(int number, int index) {
        return new BufferDescriptor(
                0x7f00_0000_0000L + ((long) number << 36 | (long) index << 34), number << 8 | index, 0);
    }

    /** Creates an end with the given addresses and keys for its table and receive buffer. The lengths are ignored. */
    StreamEnd(StreamSizes sizes, boolean hasImmediate, BufferDescriptor table, BufferDescriptor buffer) {
        this(sizes, BufferLimits.FIXED, hasImmediate, table, buffer);
    }

    private StreamEnd(
            StreamSizes sizes,
            BufferLimits limits,
            boolean hasImmediate,
            BufferDescriptor table,
            BufferDescriptor buffer) {
        this.sizes = sizes;
        this.limits = limits;
        this.hasImmediate = hasImmediate;
        memory = new StreamMemory(
                MemorySegment.ofArray(new byte[(int) StreamMemory.localBytes(sizes)]),
                MemorySegment.ofArray(new byte[sizes.receiveBufferBytes()]),
                buffer.address(),
                buffer.key(),
                MemorySegment.ofArray(new byte[(int) StreamMemory.tableBytes(sizes)]),
                table.address(),
                table.key());
        mappedAddress = table.address() + (1L << 34);
        mappedKey = ~table.key();
        protocol = new StreamProtocol(sizes, limits, memory, this, hasImmediate);
    }

    /** Creates an end with immediate data. A test provides its input. */
    static StreamEnd alone(StreamSizes sizes) {
        return new StreamEnd(sizes, true, 0xa0);
    }

    /** Returns the connection data of this end, as encoded on the wire. */
    ConnectData connectData() {
        return Objects.requireNonNull(ConnectData.parse(protocol.connectData().toByteArray()));
    }

    // ---- port

    @Override
    public void write(long id, LocalRanges bytes, long remoteAddress, int remoteKey) {
        post(id, bytes, remoteAddress, remoteKey, null, false);
    }

    @Override
    public void writeWithImmediate(long id, LocalRanges bytes, long remoteAddress, int remoteKey, int word) {
        assertThat(hasImmediate).as("has immediate data").isTrue();
        post(id, bytes, remoteAddress, remoteKey, word, false);
    }

    @Override
    public void sendControlWord(long id, int word) {
        assertThat(hasImmediate).as("has immediate data").isFalse();
        post(id, new LocalRanges(), 0, 0, word, true);
    }

    private void post(long id, LocalRanges bytes, long address, int key, @Nullable Integer word, boolean isSend) {
        SendMemory grown = bytes.memory();
        assertThat(grown == null || toSend.contains(grown))
                .as("sends from released memory")
                .isTrue();
        MemorySegment from = grown == null ? memory.local() : grown.memory();
        List<MemorySegment> pieces = List.of(
                from.asSlice(bytes.offset(), bytes.length()), from.asSlice(bytes.secondOffset(), bytes.secondLength()));
        Posted request = new Posted(id, pieces, address, key, word, isSend);
        posted.add(request);
        fresh.add(request);
        assertThat(posted.size() + delivered.size()).as("outstanding requests").isLessThanOrEqualTo(sizes.sendQueue());
    }

    @Override
    public ReceiveMemory allocateReceiveMemory(int bytes) {
        allocations++;
        int key = memory.receiveKey() + (allocations << 16);
        ReceiveMemory piece = new ReceiveMemory(
                MemorySegment.ofArray(new byte[bytes]), memory.receiveAddress() + ((long) allocations << 28), key);
        received.put(key, piece);
        return piece;
    }

    @Override
    public void releaseReceiveMemory(ReceiveMemory piece) {
        assertThat(received.remove(piece.key())).isSameAs(piece);
    }

    @Override
    public SendMemory allocateSendMemory(int bytes) {
        MemorySegment piece = MemorySegment.ofArray(new byte[bytes]);
        SendMemory created = () -> piece;
        toSend.add(created);
        return created;
    }

    @Override
    public void releaseSendMemory(SendMemory piece) {
        assertThat(toSend.remove(piece)).isTrue();
        piece.memory().fill((byte) -1); // outstanding requests would send this
    }

    // ---- actions of a test

    /** Delivers the oldest request to the peer and returns it. */
    Posted takePosted() {
        Posted request = posted.remove();
        delivered.add(request);
        assertThat(request.bytesNow()).as("bytes of the outstanding request").isEqualTo(request.bytes());
        return request;
    }

    /** Acknowledges the oldest delivered request. */
    void complete() {
        Posted request = delivered.remove();
        assertThat(request.bytesNow()).as("bytes of the outstanding request").isEqualTo(request.bytes());
        protocol.onSendCompleted(request.id(), true);
        protocol.update();
    }

    /** Delivers and acknowledges all posted requests without a response of the peer; returns the last one. */
    @Nullable
    Posted completeAll() {
        Posted last = null;
        while (!posted.isEmpty() || !delivered.isEmpty()) {
            if (!posted.isEmpty()) {
                last = takePosted();
            }
            complete();
        }
        return last;
    }

    /** Stores a write of the peer in this end's memory. */
    void store(byte[] bytes, long address, int key) {
        if (bytes.length > 0) {
            MemorySegment.copy(
                    bytes, 0, target(key), ValueLayout.JAVA_BYTE, address - targetAddress(key), bytes.length);
        }
    }

    private MemorySegment target(int key) {
        ReceiveMemory grown = received.get(key);
        if (grown != null) {
            return grown.memory();
        }
        if (key == memory.receiveKey()) {
            return memory.receive();
        }
        if (key == memory.tableKey()) {
            return memory.table();
        }
        assertThat(key).as("remote key").isEqualTo(mappedKey);
        return mapped;
    }

    private long targetAddress(int key) {
        ReceiveMemory grown = received.get(key);
        if (grown != null) {
            return grown.address();
        }
        if (key == memory.receiveKey()) {
            return memory.receiveAddress();
        }
        return key == memory.tableKey() ? memory.tableAddress() : mappedAddress;
    }

    /** Receives a control word of the peer, with a write of this length. */
    void word(int kind, int value, int writtenBytes) {
        protocol.onReceived(ControlWord.of(kind, value), hasImmediate ? writtenBytes : -1);
        protocol.update();
    }

    /** Receives data of the peer, written at an offset of the receive buffer. */
    void data(byte[] bytes, int at) {
        store(bytes, memory.receiveAddress() + at, memory.receiveKey());
        word(ControlWord.DATA, bytes.length, bytes.length);
    }

    /** Receives a table entry of the peer, with a credit word. */
    void offer(int entry, BufferDescriptor buffer, int limit) {
        ByteBuffer bytes = ByteBuffer.allocate(BufferDescriptor.LENGTH).order(ByteOrder.nativeOrder());
        buffer.write(bytes, 0);
        store(bytes.array(), memory.tableAddress() + (long) entry * BufferDescriptor.LENGTH, memory.tableKey());
        word(ControlWord.CREDIT, limit, BufferDescriptor.LENGTH);
    }

    byte[] read(int most) {
        ByteBuffer target = ByteBuffer.allocate(most);
        int count = protocol.read(target);
        assertThat(target.position()).isEqualTo(count);
        byte[] bytes = new byte[count];
        target.flip().get(bytes);
        return bytes;
    }

    int write(byte[] bytes) {
        ByteBuffer source = ByteBuffer.wrap(bytes);
        int count = protocol.write(source);
        assertThat(source.position()).isEqualTo(count);
        return count;
    }
}
