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
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream with its memory, and a port that keeps what is posted until a test has it delivered and completed.
 * It checks what must hold at all times: the send queue is not overrun, and what is under way is not written over.
 */
final class StreamEnd implements StreamPort {
    /** A request as it was posted; the word is null for a write that says nothing. */
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

        /** Reads the bytes again, as a queue pair does that sends them now. */
        byte[] bytesNow() {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (MemorySegment piece : pieces) {
                all.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE));
            }
            return all.toByteArray();
        }
    }

    final StreamSizes sizes;
    final StreamMemory memory;
    final StreamProtocol protocol;
    final MemorySegment mapped = MemorySegment.ofArray(new byte[10_000]);
    final long mappedAddress;
    final int mappedKey;

    /** Posted and not looked at by a test that looks at all. */
    final ArrayDeque<Posted> fresh = new ArrayDeque<>();

    /** Posted and not delivered. */
    final ArrayDeque<Posted> posted = new ArrayDeque<>();

    /** Delivered and not completed. */
    final ArrayDeque<Posted> delivered = new ArrayDeque<>();

    private final boolean hasImmediate;

    /** An end whose addresses and keys are its own. */
    StreamEnd(StreamSizes sizes, boolean hasImmediate, int number) {
        this(sizes, hasImmediate, piece(number, 2), piece(number, 1));
    }

    private static BufferDescriptor piece(int number, int index) {
        return new BufferDescriptor(
                0x7f00_0000_0000L + ((long) number << 36 | (long) index << 34), number << 8 | index, 0);
    }

    /** An end whose table and receive buffer have given addresses and keys; the lengths do not count. */
    StreamEnd(StreamSizes sizes, boolean hasImmediate, BufferDescriptor table, BufferDescriptor buffer) {
        this.sizes = sizes;
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
        protocol = new StreamProtocol(sizes, memory, this, hasImmediate);
    }

    /** An end with immediate data, to be told things by a test. */
    static StreamEnd alone(StreamSizes sizes) {
        return new StreamEnd(sizes, true, 0xa0);
    }

    /** What the peer learns of this end, by way of the wire. */
    ConnectData connectData() {
        return Objects.requireNonNull(ConnectData.parse(protocol.connectData().toByteArray()));
    }

    // ---- port

    @Override
    public void write(long id, Piece bytes, long remoteAddress, int remoteKey) {
        post(id, bytes, remoteAddress, remoteKey, null, false);
    }

    @Override
    public void writeWithWord(long id, Piece bytes, long remoteAddress, int remoteKey, int word) {
        assertThat(hasImmediate).as("has immediate data").isTrue();
        post(id, bytes, remoteAddress, remoteKey, word, false);
    }

    @Override
    public void sendWord(long id, int word) {
        assertThat(hasImmediate).as("has immediate data").isFalse();
        post(id, new Piece(), 0, 0, word, true);
    }

    private void post(long id, Piece bytes, long address, int key, @Nullable Integer word, boolean isSend) {
        List<MemorySegment> pieces = List.of(
                memory.local().asSlice(bytes.offset(), bytes.length()),
                memory.local().asSlice(bytes.secondOffset(), bytes.secondLength()));
        Posted request = new Posted(id, pieces, address, key, word, isSend);
        posted.add(request);
        fresh.add(request);
        assertThat(posted.size() + delivered.size()).as("requests under way").isLessThanOrEqualTo(sizes.sendQueue());
    }

    // ---- what a test does with it

    /** The oldest request has reached the peer; gives it to the test. */
    Posted takePosted() {
        Posted request = posted.remove();
        delivered.add(request);
        assertThat(request.bytesNow()).as("what is under way").isEqualTo(request.bytes());
        return request;
    }

    /** The oldest request that has reached the peer is acknowledged. */
    void complete() {
        Posted request = delivered.remove();
        assertThat(request.bytesNow()).as("what is under way").isEqualTo(request.bytes());
        protocol.onSendCompleted(request.id(), true);
        protocol.update();
    }

    /** Everything posted has reached a peer that does not answer, and is acknowledged; returns the last of it. */
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

    /** A peer's write comes to this end's memory. */
    void store(byte[] bytes, long address, int key) {
        if (bytes.length > 0) {
            MemorySegment.copy(
                    bytes, 0, target(key), ValueLayout.JAVA_BYTE, address - targetAddress(key), bytes.length);
        }
    }

    private MemorySegment target(int key) {
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
        if (key == memory.receiveKey()) {
            return memory.receiveAddress();
        }
        return key == memory.tableKey() ? memory.tableAddress() : mappedAddress;
    }

    /** A peer's word comes, with a write of so many bytes. */
    void word(int kind, int value, int writtenBytes) {
        protocol.onReceived(ControlWord.of(kind, value), hasImmediate ? writtenBytes : -1);
        protocol.update();
    }

    /** A peer's data come, written at a place of the receive buffer. */
    void data(byte[] bytes, int at) {
        store(bytes, memory.receiveAddress() + at, memory.receiveKey());
        word(ControlWord.DATA, bytes.length, bytes.length);
    }

    /** A peer's table entry comes, with a word of credit. */
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
