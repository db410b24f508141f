package io.rdma4j.fuzz;

import io.rdma4j.sockets.stream.StreamMemory;
import io.rdma4j.sockets.stream.StreamPort;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/**
 * One side of an RDMA socket's stream, whose peer behaves arbitrarily.
 *
 * <p>Data is written only to memory that the peer has offered, and only announced data is read. Nothing is sent to a
 * peer that violated the protocol, the send queue is not overrun, and in the end no request is outstanding.
 */
final class StreamSession implements StreamPort {
    private static final StreamSizes SIZES = new StreamSizes(32, 20, 16_384, 8192, 64, 2);
    private static final int DESCRIPTORS = 2;
    private static final int MAX_BYTES = 10_000;
    private static final int STEPS = 16;

    private final Script script;
    private final boolean hasImmediate;
    private final StreamMemory memory;
    private final StreamProtocol protocol;
    private final Deque<Long> outstanding = new ArrayDeque<>();

    /** Memory of the peer that this side may write to. */
    private record Offer(long address, int key, long length) {
        static Offer of(BufferDescriptor descriptor) {
            return new Offer(descriptor.address(), descriptor.key(), Integer.toUnsignedLong(descriptor.length()));
        }

        boolean holds(long at, int byKey, int bytes) {
            return key == byKey && bytes <= length && Long.compareUnsigned(at - address, length - bytes) <= 0;
        }
    }

    private final List<Offer> offered = new ArrayList<>();

    /** Memory of this side that the peer may write to, by index. */
    private final Deque<Integer> mapped = new ArrayDeque<>();

    private final ByteBuffer scratch = ByteBuffer.allocate(MAX_BYTES);
    private long announcedBytes;
    private long readBytes;

    StreamSession(Script script) {
        this.script = script;
        hasImmediate = !script.flag();
        memory = new StreamMemory(
                MemorySegment.ofArray(new byte[(int) StreamMemory.localBytes(SIZES)]),
                MemorySegment.ofArray(new byte[SIZES.receiveBufferBytes()]),
                0x1000_0000,
                1,
                MemorySegment.ofArray(new byte[(int) StreamMemory.tableBytes(SIZES)]),
                0x2000_0000,
                2);
        protocol = new StreamProtocol(SIZES, memory, this, hasImmediate);
    }

    void run() {
        byte[] local = protocol.connectData().toByteArray();
        ConnectData peer = ConnectData.parse(script.flag() ? script.run() : changed(local));
        if (peer != null && protocol.onPeer(peer)) {
            offered.add(Offer.of(peer.buffer()));
            // The peer specifies the number of entries of the table, which can exceed the length of a descriptor.
            offered.add(new Offer(
                    peer.table().address(),
                    peer.table().key(),
                    (long) peer.table().length() * BufferDescriptor.LENGTH
                            + (long) peer.mappingEntries() * MappingEntry.LENGTH));
            protocol.start();
        }
        while (!script.isAtEnd()) {
            step();
            Invariant.atMost(protocol.availableBytes(), SIZES.receiveBufferBytes(), "bytes that can be read");
            Invariant.atMost(readBytes, announcedBytes, "bytes read, of those announced");
        }
        protocol.disconnect();
        while (!outstanding.isEmpty()) {
            complete(true);
        }
        Invariant.holds(protocol.isQuiet(), "in the end no request is outstanding");
    }

    /** Returns the connection data of this side with a few bytes replaced by the script. */
    private byte[] changed(byte[] data) {
        for (int changes = script.choice(4); changes > 0; changes--) {
            data[script.choice(data.length)] = (byte) script.u8();
        }
        return data;
    }

    private void step() {
        switch (script.choice(STEPS)) {
            case 0 -> table(script.choice((int) memory.table().byteSize()), script.run());
            case 1 -> offer(script.choice(DESCRIPTORS), script.s32(), script.near(), script.u8());
            case 2 -> controlWord(script.s32(), script.near());
            case 3, 4, 5 -> controlWord(ControlWord.of(ControlWord.DATA, script.u16()), 1);
            case 6 -> controlWord(ControlWord.of(script.choice(8), script.near()), script.u8());
            case 7 -> mapping(script.choice(SIZES.mappingEntries()), script.near(), script.s32());
            case 8, 9 -> write(script.u16() % MAX_BYTES);
            case 10 -> read(script.u16() % MAX_BYTES, script.flag());
            case 11, 12 -> complete(true);
            case 13 -> {
                int _ = protocol.writeMapped(
                        buffer(script.u16() % MAX_BYTES), script.flag() ? script.s64() : script.near());
            }
            case 14 -> act(script.choice(8));
            default -> complete(!script.flag());
        }
    }

    /** Executes an action of the local application. */
    private void act(int action) {
        switch (action) {
            case 0 -> protocol.shutdownOutput();
            case 1 -> protocol.shutdownInput();
            case 2 -> protocol.disconnect();
            case 3 -> protocol.onDisconnected();
            case 4 -> protocol.keepAlive();
            case 5 -> {
                int index = protocol.map(new MappingEntry(script.near(), new BufferDescriptor(1, 2, 3)));
                if (index >= 0) {
                    mapped.add(index);
                }
            }
            case 6 -> {
                Integer index = mapped.poll();
                if (index != null) {
                    protocol.unmap(index, script.near());
                }
            }
            default -> protocol.update();
        }
    }

    // ---- actions of the peer

    private void table(int at, byte[] bytes) {
        int length = (int) Math.min(bytes.length, memory.table().byteSize() - at);
        MemorySegment.copy(bytes, 0, memory.table(), ValueLayout.JAVA_BYTE, at, length);
    }

    private void offer(int entry, int address, int length, int credit) {
        ByteBuffer bytes = ByteBuffer.allocate(BufferDescriptor.LENGTH).order(ByteOrder.nativeOrder());
        new BufferDescriptor(address, entry, length).write(bytes, 0);
        table(entry * BufferDescriptor.LENGTH, bytes.array());
        controlWord(ControlWord.of(ControlWord.CREDIT, credit), BufferDescriptor.LENGTH);
    }

    private void mapping(int entry, int offset, int length) {
        ByteBuffer bytes = ByteBuffer.allocate(MappingEntry.LENGTH).order(ByteOrder.nativeOrder());
        new MappingEntry(offset, new BufferDescriptor(0x5000_0000, 5, length)).write(bytes, 0);
        table(DESCRIPTORS * BufferDescriptor.LENGTH + entry * MappingEntry.LENGTH, bytes.array());
        controlWord(ControlWord.of(ControlWord.MAPPING, entry), MappingEntry.LENGTH);
    }

    private void controlWord(int controlWord, int writtenBytes) {
        recordOffers();
        int before = protocol.availableBytes();
        boolean isData = ControlWord.kind(controlWord) == ControlWord.DATA;
        boolean wasOpen = protocol.isOpen();
        protocol.onReceived(controlWord, hasImmediate ? Math.max(0, writtenBytes) : -1);
        if (isData && wasOpen && protocol.failure() == null) {
            announcedBytes += ControlWord.value(controlWord);
        } else {
            Invariant.atMost(protocol.availableBytes(), before, "bytes that can be read without a data message");
        }
        protocol.update();
    }

    /** Records the offers in the table, as a control word may announce a change. */
    private void recordOffers() {
        ByteBuffer table = memory.table().asByteBuffer().order(ByteOrder.nativeOrder());
        for (int i = 0; i < DESCRIPTORS; i++) {
            recordOffer(BufferDescriptor.read(table, i * BufferDescriptor.LENGTH));
        }
        for (int i = 0; i < SIZES.mappingEntries(); i++) {
            recordOffer(MappingEntry.read(table, DESCRIPTORS * BufferDescriptor.LENGTH + i * MappingEntry.LENGTH)
                    .memory());
        }
    }

    private void recordOffer(BufferDescriptor descriptor) {
        Offer offer = Offer.of(descriptor);
        if (offer.length() != 0 && !offered.contains(offer)) {
            offered.add(offer);
        }
    }

    // ---- actions of this side

    private ByteBuffer buffer(int bytes) {
        return scratch.clear().limit(bytes);
    }

    private void write(int bytes) {
        ByteBuffer source = buffer(bytes);
        int count = protocol.write(source);
        Invariant.equal(source.position(), count, "bytes accepted");
    }

    private void read(int max, boolean peek) {
        ByteBuffer target = buffer(max);
        int count = peek ? protocol.peek(target) : protocol.read(target);
        Invariant.equal(target.position(), count, "bytes returned");
        readBytes += peek ? 0 : count;
    }

    private void complete(boolean success) {
        if (!outstanding.isEmpty()) {
            protocol.onSendCompleted(outstanding.remove(), success);
            protocol.update();
        }
    }

    // ---- port

    @Override
    public void write(long id, LocalRanges bytes, long remoteAddress, int remoteKey) {
        post(id, bytes, remoteAddress, remoteKey);
    }

    @Override
    public void writeWithImmediate(long id, LocalRanges bytes, long remoteAddress, int remoteKey, int controlWord) {
        Invariant.holds(hasImmediate, "immediate data is sent only if enabled");
        post(id, bytes, remoteAddress, remoteKey);
    }

    @Override
    public void sendControlWord(long id, int controlWord) {
        Invariant.holds(!hasImmediate, "messages are sent only without immediate data");
        post(id, new LocalRanges(), 0, 0);
    }

    private void post(long id, LocalRanges bytes, long address, int key) {
        Invariant.holds(protocol.failure() == null, "nothing is sent to a peer that violated the protocol");
        outstanding.add(id);
        Invariant.atMost(outstanding.size(), SIZES.sendQueue(), "outstanding requests");
        MemorySegment local = memory.local();
        Invariant.equal(
                local.asSlice(bytes.offset(), bytes.length()).byteSize()
                        + local.asSlice(bytes.secondOffset(), bytes.secondLength())
                                .byteSize(),
                bytes.totalLength(),
                "sent bytes are in the local memory");
        if (bytes.totalLength() > 0) {
            Invariant.holds(
                    offered.stream().anyMatch(offer -> offer.holds(address, key, bytes.totalLength())),
                    "data is written only to memory that the peer has offered");
        }
    }

    // ---- seeds

    /** Writes a peer with the same connection data as this side. */
    static void connect(ScriptWriter seed) {
        seed.u8(0, 0);
    }

    static void controlWord(ScriptWriter seed, int controlWord, int writtenBytes) {
        seed.u8(2).s32(controlWord).u8(Math.min(writtenBytes, 100));
    }

    static Stream<byte[]> seeds() {
        return Stream.of(0, 1).map(immediate -> {
            ScriptWriter seed = new ScriptWriter().u8(0, immediate);
            connect(seed);
            for (int i = 0; i < 6; i++) {
                seed.u8(1, i).s32(0x4000).u8(100, 50); // a buffer and credit
                seed.u8(8).u16(300).u8(11).u8(3).u16(500).u8(10).u16(1000).u8(0).u8(11);
                seed.u8(7, i, 0).s32(1000).u8(13).u16(50).u8(0, 5).u8(11, 11);
                seed.u8(14, i);
            }
            return seed.bytes();
        });
    }
}
