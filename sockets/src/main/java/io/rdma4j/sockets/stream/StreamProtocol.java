package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream of bytes over a reliable connection: the rsocket protocol of librdmacm without I/O. The sender writes
 * straight into the receiver's buffer and tells the length in a control word; the receiver offers its buffer in halves, by
 * writing descriptors into the sender's table, and grants a number of messages with each such word.
 *
 * <p>Its owner creates it, sends {@link #connectData}, gives it the peer's, and then every completion. Requests go to the
 * {@link StreamPort} from inside the methods. What a peer says is checked: a peer that writes more than it was offered, or
 * announces what cannot be, breaks the stream ({@link #isBroken}), and nothing else. Not thread safe.
 */
public final class StreamProtocol {
    /**
     * What librdmacm sends at once at most. It begins with less and doubles it, so that the adapter sends while the
     * processor copies; where the processor does both, each piece more costs it a message more.
     */
    private static final int MOST_TRANSFER_BYTES = 65_536;

    private final StreamSizes sizes;
    private final StreamMemory memory;
    private final StreamPort port;
    private final boolean hasImmediate;
    private final SendSlots slots;
    private final SendBuffer sendBuffer;
    private final ReceiveBuffer receiveBuffer;
    private final ByteBuffer ownTable;
    private final ByteBuffer small;
    private final StreamPort.Piece piece = new StreamPort.Piece();

    private @Nullable PeerBuffers peerBuffers;
    private @Nullable Mappings mappings;
    private @Nullable ConnectData peer;
    private boolean canWord;
    private int nextPeerEntry = 1;
    private int smallIndex;

    /** Number of the next message to be sent, and the number that must not be sent yet; 16 bits. */
    private short sendSequence;

    private short sendLimit;

    /** Number of the next message to be read, and from which on credit is due; 16 bits. */
    private short receiveSequence;

    private short creditMark;

    private boolean outputShut;
    private boolean inputShut;
    private boolean peerOutputShut;
    private boolean disconnected;

    /** Nothing that is sent is of use to the peer any more. */
    private boolean peerGone;

    private @Nullable String broken;

    /** The control word that is to say the end of output, or of both; -1 for none that is not sent. */
    private int pendingControl = -1;

    /**
     * Creates an end that is not connected.
     *
     * @param sizes its sizes
     * @param memory its memory, registered and all zero
     * @param port where its requests go
     * @param hasImmediate whether the transport has immediate data
     */
    public StreamProtocol(StreamSizes sizes, StreamMemory memory, StreamPort port, boolean hasImmediate) {
        this.sizes = sizes;
        this.memory = memory;
        this.port = port;
        this.hasImmediate = hasImmediate;
        slots = new SendSlots(sizes.sendQueue());
        sendBuffer = new SendBuffer(memory.local(), sizes.sendBufferBytes());
        receiveBuffer = new ReceiveBuffer(memory.receive(), sizes.receiveBufferBytes(), sizes.receiveQueue());
        ownTable = memory.table().asByteBuffer().order(ByteOrder.nativeOrder());
        small = memory.local().asSlice(StreamMemory.slotsAt(sizes)).asByteBuffer();
        creditMark = (short) (sizes.receiveQueue() / 2);
        receiveBuffer.offer(); // the first half goes with the connection data
    }

    // ---- connecting

    /** What the peer must know; for the private data of the request or reply. */
    public ConnectData connectData() {
        return new ConnectData(
                ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN,
                true,
                sizes.receiveQueue(),
                sizes.mappingEntries(),
                new BufferDescriptor(memory.tableAddress(), memory.tableKey(), StreamMemory.DESCRIPTORS),
                new BufferDescriptor(memory.receiveAddress(), memory.receiveKey(), receiveBuffer.halfBytes()));
    }

    /**
     * The peer's data have come: it can be written to as soon as {@link #start} is called.
     *
     * @return false if they cannot be: no table, no buffer, or no credit
     */
    public boolean onPeer(ConnectData data) {
        if (data.table().length() < 1 || data.buffer().length() < 1 || data.credits() < 1) {
            return false;
        }
        peer = data;
        small.order(data.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        sendLimit = (short) data.credits();
        nextPeerEntry = 1 % data.table().length();
        peerBuffers = new PeerBuffers(ownTable, data.buffer());
        mappings = new Mappings(ownTable, sizes.mappingEntries(), data.mapping() ? data.mappingEntries() : 0);
        return true;
    }

    /** The queue pair is ready to send: offers the second half of the receive buffer. */
    public void start() {
        canWord = peer != null;
        update();
    }

    // ---- what happens to it

    /**
     * A send work request has completed.
     *
     * @param id what it was posted with
     * @param success whether it succeeded; else the stream is broken, if it was not at its end
     */
    public void onSendCompleted(long id, boolean success) {
        if (RequestId.kind(id) == RequestId.CONTROL) {
            slots.giveControl();
        } else {
            slots.giveData();
            sendBuffer.free(RequestId.bytes(id));
        }
        if (!success) {
            peerGone = true;
            fail("a message could not be delivered");
        }
    }

    /**
     * The peer's word has come.
     *
     * @param word the immediate data, or the message of 4 bytes
     * @param writtenBytes bytes of the write that it came with; -1 where the word does not tell
     */
    public void onReceived(int word, int writtenBytes) {
        if (disconnected || broken != null) {
            return;
        }
        int value = ControlWord.value(word);
        switch (ControlWord.kind(word)) {
            case ControlWord.DATA -> {
                if (peerOutputShut || !receiveBuffer.onData(value)) {
                    fail("the peer announced " + value + " bytes that it had no right to write");
                } else if (inputShut) {
                    receiveBuffer.discard();
                }
            }
            case ControlWord.CREDIT -> onCredit(value, writtenBytes);
            case ControlWord.MAPPING -> {
                receiveSequence++; // it took a receive, as data do
                if (mappings == null || !mappings.onWritten(value)) {
                    fail("the peer mapped memory as entry " + value + " of " + sizes.mappingEntries());
                }
            }
            case ControlWord.CONTROL -> onControl(value);
            default -> fail("the peer sent an unknown word 0x" + Integer.toHexString(word));
        }
    }

    private void onCredit(int limit, int writtenBytes) {
        PeerBuffers buffers = peerBuffers;
        if (buffers == null) {
            return;
        }
        sendLimit = (short) limit;
        boolean offers = writtenBytes < 0 ? buffers.isWritten() : writtenBytes > 0;
        if (offers) {
            if (!buffers.onWritten()) {
                fail("the peer offered a buffer of no bytes, or while both that it had offered were unused");
            } else if (writtenBytes < 0) {
                buffers.clearRead();
            }
        }
    }

    private void onControl(int value) {
        if (value == ControlWord.DISCONNECT) {
            peerOutputShut = true;
            disconnected = true;
            peerGone = true;
        } else if (value == ControlWord.SHUTDOWN && outputShut) {
            peerOutputShut = true;
            disconnected = true; // the peer is still to hear of this side's end, if it has not
        } else if (value == ControlWord.SHUTDOWN) {
            peerOutputShut = true;
        }
    }

    /**
     * Handles a receive that failed: the queue pair is in the error state, and receives nothing more. The stream is broken
     * unless the peer has ended its output. Without sends in progress, no other completion reports the failure.
     */
    public void onReceiveFailed() {
        if (!isInputEnded()) {
            fail("the queue pair failed, and the peer had not ended its output");
        }
    }

    /**
     * The connection has gone, by the connection manager's word. What has arrived can still be read. It is the end of the
     * input only where the peer has said so in the stream; else something that the peer has sent may be missing, and the
     * stream is broken.
     */
    public void onDisconnected() {
        if (!isInputEnded()) {
            fail("the connection ended, and the peer had not ended its output");
        }
        disconnected = true;
        peerGone = true;
    }

    private void fail(String why) {
        if (broken == null && !disconnected) {
            broken = why;
        }
    }

    /** Sends what is due: credit and buffers for the peer, and the end. To be called when completions were handled. */
    public void update() {
        ConnectData to = peer;
        if (peerGone || broken != null || !canWord || to == null) {
            return;
        }
        while (!disconnected && isCreditDue() && slots.hasControl(creditSlots())) {
            sendCredit(to);
        }
        sendPendingControl();
    }

    private int creditSlots() {
        return hasImmediate || receiveBuffer.offerable() < 0 ? 1 : 2;
    }

    private boolean isCreditDue() {
        receiveSequence += (short) receiveBuffer.takeReadMessages();
        return receiveBuffer.offerable() >= 0 || (short) (receiveSequence - creditMark) >= 0;
    }

    private void sendCredit(ConnectData to) {
        creditMark = (short) (receiveSequence + sizes.receiveQueue() / 2);
        int word = ControlWord.of(ControlWord.CREDIT, receiveSequence + sizes.receiveQueue() & 0xffff);
        int at = receiveBuffer.offerable();
        if (at < 0) {
            sendControlWord(word);
            return;
        }
        StreamPort.Piece bytes = piece.at(nextSmall(), BufferDescriptor.LENGTH, 0, 0);
        new BufferDescriptor(memory.receiveAddress() + at, memory.receiveKey(), receiveBuffer.halfBytes())
                .write(small, (int) (bytes.offset() - StreamMemory.slotsAt(sizes)));
        receiveBuffer.offer();
        long entry = to.table().address() + (long) nextPeerEntry * BufferDescriptor.LENGTH;
        nextPeerEntry = (nextPeerEntry + 1) % to.table().length();
        slots.takeControl(hasImmediate ? 1 : 2);
        postWithWord(RequestId.CONTROL, 0, bytes, entry, to.table().key(), word);
    }

    /** A place for a table entry; it is free again when as many requests were posted as the queue holds. */
    private long nextSmall() {
        long at = StreamMemory.slotsAt(sizes) + (long) smallIndex * MappingEntry.LENGTH;
        smallIndex = (smallIndex + 1) % sizes.sendQueue();
        return at;
    }

    private void sendControlWord(int word) {
        slots.takeControl(1);
        long id = RequestId.of(RequestId.CONTROL, 0);
        if (hasImmediate) {
            port.writeWithWord(id, piece.nothing(), 0, 0, word);
        } else {
            port.sendWord(id, word);
        }
    }

    private void postWithWord(int kind, int bytes, StreamPort.Piece what, long address, int key, int word) {
        long id = RequestId.of(kind, bytes);
        if (hasImmediate) {
            port.writeWithWord(id, what, address, key, word);
        } else {
            port.write(id, what, address, key);
            port.sendWord(RequestId.of(kind, 0), word);
        }
    }

    private void sendPendingControl() {
        if (pendingControl >= 0 && slots.hasControl(1)) {
            sendControlWord(ControlWord.of(ControlWord.CONTROL, pendingControl));
            if (pendingControl == ControlWord.DISCONNECT) {
                disconnected = true;
            }
            pendingControl = -1;
        }
    }

    // ---- sending

    /** Whether some byte can be sent now. */
    public boolean canWrite() {
        return isOpen()
                && !outputShut
                && slots.hasData(hasImmediate ? 1 : 2)
                && sendBuffer.freeBytes() >= StreamSizes.LOW_WATER_BYTES
                && sendSequence != sendLimit
                && peerBuffers != null
                && peerBuffers.available() > 0;
    }

    /** Whether so many bytes can be sent now without waiting for anything from the peer. */
    public boolean hasRoomFor(int bytes) {
        PeerBuffers to = peerBuffers;
        return to != null && canWrite() && bytes <= sendBuffer.freeBytes() && bytes <= to.available();
    }

    /**
     * Sends as many bytes as there is room for.
     *
     * @return how many; 0 if there is no room now
     */
    public int write(ByteBuffer source) {
        announceMappings();
        PeerBuffers to = peerBuffers;
        int begin = source.position();
        while (to != null && source.hasRemaining() && canWrite()) {
            int length = Math.min(transferBytes(source), to.available());
            StreamPort.Piece bytes = sendBuffer.copy(source, length);
            long address = to.address();
            int key = to.key();
            to.advance(length);
            takeDataSlot();
            postWithWord(RequestId.DATA, length, bytes, address, key, ControlWord.of(ControlWord.DATA, length));
        }
        return source.position() - begin;
    }

    /** Bytes that one message can take along now. */
    private int transferBytes(ByteBuffer source) {
        return Math.min(Math.min(source.remaining(), MOST_TRANSFER_BYTES), sendBuffer.freeBytes());
    }

    private void takeDataSlot() {
        sendSequence++;
        slots.takeData(hasImmediate ? 1 : 2);
    }

    /** Tells a device in between, or nobody, that this side lives: an empty write that the peer does not notice. */
    public void keepAlive() {
        if (isOpen() && canWord && slots.hasControl(1)) {
            slots.takeControl(1);
            port.write(RequestId.of(RequestId.CONTROL, 0), piece.nothing(), 0, 0);
        }
    }

    // ---- receiving

    /** Bytes that can be read now. */
    public int availableBytes() {
        return inputShut ? 0 : receiveBuffer.unreadBytes();
    }

    /** Whether nothing more will come, once what is there is read. */
    public boolean isInputEnded() {
        return peerOutputShut || inputShut || disconnected;
    }

    /** Reads what is there, and grants the peer as much again; returns how many bytes. */
    public int read(ByteBuffer target) {
        int count = inputShut ? 0 : receiveBuffer.read(target);
        if (count > 0) {
            update();
        }
        return count;
    }

    /** Copies what is there and leaves it to be read; returns how many bytes. */
    public int peek(ByteBuffer target) {
        return inputShut ? 0 : receiveBuffer.peek(target);
    }

    // ---- mapped memory

    /**
     * Lets the peer write to memory of this side from now on; it hears of it before the next data.
     *
     * @param entry the memory, and by which offset the peer is to know it
     * @return the index of the mapping; -1 if the peer has no place for it
     */
    public int map(MappingEntry entry) {
        int index = mappings == null ? -1 : mappings.take(entry);
        announceMappings();
        return index;
    }

    /** Takes a mapping back. */
    public void unmap(int index, long offset) {
        if (mappings != null) {
            mappings.release(index, offset);
            announceMappings();
        }
    }

    private void announceMappings() {
        Mappings.Announcement next;
        ConnectData to = peer;
        while (mappings != null && to != null && (next = mappings.next()) != null && canAnnounce()) {
            StreamPort.Piece bytes = piece.at(nextSmall(), MappingEntry.LENGTH, 0, 0);
            next.entry().write(small, (int) (bytes.offset() - StreamMemory.slotsAt(sizes)));
            long entry = to.table().address()
                    + (long) to.table().length() * BufferDescriptor.LENGTH
                    + (long) next.index() * MappingEntry.LENGTH;
            takeDataSlot();
            int word = ControlWord.of(ControlWord.MAPPING, next.index());
            postWithWord(RequestId.DATA, 0, bytes, entry, to.table().key(), word);
            mappings.announced();
        }
    }

    private boolean canAnnounce() {
        return canWord && isOpen() && !outputShut && slots.hasData(hasImmediate ? 1 : 2) && sendSequence != sendLimit;
    }

    /**
     * Writes straight into memory that the peer has mapped; the peer is not told.
     *
     * @param source what to write
     * @param offset where, as the peer's mappings count
     * @return how many bytes; 0 if there is no room now; -1 if nothing is mapped there
     */
    public int writeMapped(ByteBuffer source, long offset) {
        announceMappings();
        int begin = source.position();
        while (source.hasRemaining() && canWrite()) {
            long at = offset + source.position() - begin;
            MappingEntry entry = mappings == null ? null : mappings.find(at);
            if (entry == null) {
                return source.position() == begin ? -1 : source.position() - begin;
            }
            long inside = at - entry.offset();
            long room = Integer.toUnsignedLong(entry.memory().length()) - inside;
            int length = (int) Math.min(transferBytes(source), room);
            StreamPort.Piece bytes = sendBuffer.copy(source, length);
            slots.takeData(1);
            port.write(
                    RequestId.of(RequestId.DATA, length),
                    bytes,
                    entry.memory().address() + inside,
                    entry.memory().key());
        }
        return source.position() - begin;
    }

    // ---- ending

    /** Sends no more. The peer reads to the end of what was sent. */
    public void shutdownOutput() {
        if (!outputShut && isOpen()) {
            outputShut = true;
            pendingControl = inputShut || peerOutputShut ? ControlWord.DISCONNECT : ControlWord.SHUTDOWN;
            update();
        }
    }

    /** Reads no more: what is there and what comes is thrown away. The peer is told if this side sends no more either. */
    public void shutdownInput() {
        if (!inputShut) {
            inputShut = true;
            receiveBuffer.discard();
            if (outputShut && isOpen()) {
                pendingControl = ControlWord.DISCONNECT;
            }
            update();
        }
    }

    /** Ends both directions. The owner waits for {@link #isQuiet} before it disconnects the connection. */
    public void disconnect() {
        if (isOpen()) {
            outputShut = true;
            inputShut = true;
            pendingControl = ControlWord.DISCONNECT;
            update();
        }
    }

    /** Whether nothing is under way and nothing waits to be sent. */
    public boolean isQuiet() {
        return slots.allFree() && (pendingControl < 0 || peerGone || broken != null || !canWord);
    }

    /** Whether it is neither disconnected nor broken. */
    public boolean isOpen() {
        return !disconnected && broken == null;
    }

    /** Whether the peer, or this side, has ended the connection in both directions. */
    public boolean isDisconnected() {
        return disconnected;
    }

    /** Why the stream is broken, or null. */
    public @Nullable String isBroken() {
        return broken;
    }

    /** Whether this side sends no more. */
    public boolean isOutputShut() {
        return outputShut;
    }
}
