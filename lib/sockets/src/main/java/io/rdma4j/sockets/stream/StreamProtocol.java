package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * One end of a byte stream over a reliable connection: librdmacm's rsocket protocol without I/O. The sender writes
 * directly into the receiver's buffer and reports the length in a control word. The receiver offers its buffer in
 * halves, by writing descriptors into the sender's table. With each such control word it grants a number of messages
 * (credit).
 *
 * <p>The owner creates an end, sends {@link #connectData}, passes in the peer's connection data, and then every
 * completion. The methods post requests to the {@link StreamPort}. All input from the peer is checked. A peer that
 * writes more than it was offered, or announces impossible values, breaks only this stream ({@link #failure}). Not
 * thread safe.
 */
public final class StreamProtocol {
    /**
     * Maximum number of data bytes in one message. The protocol of librdmacm has the same maximum, but starts with less
     * and doubles it, so that the adapter sends while the processor copies. With the software device, the processor
     * does both, so splitting data further would only add messages.
     */
    private static final int MAX_TRANSFER_BYTES = 65_536;

    /**
     * Number of receives beyond the credit, for control words of a transport that ends the connection when a message
     * finds no receive, as iWARP does. Credit covers data only. Until its words are processed, a peer sends at most two
     * offers of buffers, two grants of credit, a third grant as its credit grows, the end of its output and the
     * disconnection.
     */
    public static final int CONTROL_RECEIVES = 8;

    private final StreamSizes sizes;
    private final StreamMemory memory;
    private final StreamPort port;
    private final boolean hasImmediate;
    private final SendSlots slots;
    private final SendBuffer sendBuffer;
    private final ReceiveBuffer receiveBuffer;
    private final BufferDescriptor firstOffer;
    private final ByteBuffer ownTable;
    private final ByteBuffer staging;
    private final StreamPort.LocalRanges ranges = new StreamPort.LocalRanges();

    private @Nullable PeerBuffers peerBuffers;
    private @Nullable Mappings mappings;
    private @Nullable ConnectData peer;
    private boolean started;

    /** True between {@link #startAfterPeer} and the first message of the peer. */
    private boolean awaitsPeer;

    /** True if a message of the peer has arrived. */
    private boolean peerSent;

    private int nextPeerEntry = 1;
    private int stagingIndex;

    /** Number of the next message to send; 16 bits. */
    private short sendSequence;

    /** Number of the first message that the peer's credit does not cover; 16 bits. */
    private short sendLimit;

    /** Number of the next message to be read; 16 bits. */
    private short receiveSequence;

    /** Number of messages that the peer may send before it waits for credit. */
    private int credits;

    /** Value of {@link #receiveSequence} at which credit is due; 16 bits. */
    private short creditMark;

    private boolean outputShut;
    private boolean inputShut;
    private boolean peerOutputShut;
    private boolean disconnected;

    /** True if the peer no longer processes anything that is sent. */
    private boolean peerEnded;

    private @Nullable String broken;

    /** The control word value for the end of the output or of both directions, not sent yet; -1 for none. */
    private int pendingControl = -1;

    /**
     * Creates an end that is not connected, with buffers of a fixed size.
     *
     * @param sizes the sizes of the stream
     * @param memory the memory of the stream, registered and zeroed
     * @param port the receiver of the requests
     * @param hasImmediate true if the transport has immediate data
     */
    public StreamProtocol(StreamSizes sizes, StreamMemory memory, StreamPort port, boolean hasImmediate) {
        this(sizes, BufferLimits.FIXED, memory, port, hasImmediate);
    }

    /**
     * Creates an end that is not connected, with buffers that may grow.
     *
     * @param sizes the initial sizes of the stream
     * @param limits the sizes to which the buffers may grow
     * @param memory the memory of the stream, registered and zeroed
     * @param port the receiver of the requests, and the source of further memory
     * @param hasImmediate true if the transport has immediate data
     */
    public StreamProtocol(
            StreamSizes sizes, BufferLimits limits, StreamMemory memory, StreamPort port, boolean hasImmediate) {
        this.sizes = sizes;
        this.memory = memory;
        this.port = port;
        this.hasImmediate = hasImmediate;
        slots = new SendSlots(sizes.sendQueue());
        sendBuffer = new SendBuffer(memory.local(), sizes.sendBufferBytes(), port, limits.sendBytes());
        receiveBuffer = new ReceiveBuffer(memory, sizes, port, limits.receiveBytes());
        ownTable = memory.table().asByteBuffer().order(ByteOrder.nativeOrder());
        staging = memory.local().asSlice(StreamMemory.stagingOffset(sizes)).asByteBuffer();
        credits = limits.initialCredits(sizes);
        creditMark = (short) (credits / 2);
        firstOffer = receiveBuffer.offer(); // part of the connection data
    }

    // ---- connecting

    /** Returns the data for the peer, for the private data of the CM request or reply. */
    public ConnectData connectData() {
        return new ConnectData(
                ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN,
                true,
                credits,
                sizes.mappingEntries(),
                new BufferDescriptor(memory.tableAddress(), memory.tableKey(), StreamMemory.DESCRIPTORS),
                firstOffer);
    }

    /**
     * Accepts the peer's connection data. Nothing is sent before {@link #start} is called.
     *
     * @return false if the data is invalid: no table, no buffer, or no credit
     */
    public boolean onPeer(ConnectData data) {
        if (data.table().length() < 1 || data.buffer().length() < 1 || data.credits() < 1) {
            return false;
        }
        peer = data;
        staging.order(data.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        sendLimit = (short) data.credits();
        nextPeerEntry = 1 % data.table().length();
        peerBuffers = new PeerBuffers(ownTable, data.buffer());
        mappings = new Mappings(ownTable, sizes.mappingEntries(), data.mapping() ? data.mappingEntries() : 0);
        return true;
    }

    /** Starts sending, when the queue pair is ready to send: offers the second half of the receive buffer. */
    public void start() {
        started = peer != null;
        update();
    }

    /**
     * Starts sending when the first message of the peer has arrived, which its {@link #start} sends. The iWARP protocol
     * requires this of the side that accepted the connection (RFC 5044, section 7.1.2): the peer may still be reading
     * the reply, and treats a message after it as an error.
     */
    public void startAfterPeer() {
        if (peerSent) {
            start();
        } else {
            awaitsPeer = peer != null;
        }
    }

    // ---- events

    /**
     * Handles the completion of a send work request.
     *
     * @param id the ID it was posted with
     * @param success true if it succeeded; if not, an open stream is broken
     */
    public void onSendCompleted(long id, boolean success) {
        if (RequestId.kind(id) == RequestId.CONTROL) {
            slots.releaseControl();
        } else {
            slots.releaseData();
            sendBuffer.free(RequestId.bytes(id));
        }
        if (!success) {
            peerEnded = true;
            fail("a message could not be delivered");
        }
    }

    /**
     * Handles a control word of the peer.
     *
     * @param word the immediate data, or the message of 4 bytes
     * @param writtenBytes length of the RDMA WRITE that carried the word; -1 if the transport does not report it
     */
    public void onReceived(int word, int writtenBytes) {
        peerSent = true;
        started |= awaitsPeer;
        awaitsPeer = false;
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
                receiveSequence++; // the message consumed a receive, as data does
                if (mappings == null || !mappings.onWritten(value)) {
                    fail("the peer mapped memory as entry " + value + " of " + sizes.mappingEntries());
                }
            }
            case ControlWord.CONTROL -> onControl(value);
            default -> fail("the peer sent an unknown control word 0x" + Integer.toHexString(word));
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
                fail("the peer offered an empty buffer, or another one while both of its buffers were in use");
            } else if (writtenBytes < 0) {
                buffers.clearRead();
            }
        }
    }

    private void onControl(int value) {
        if (value == ControlWord.DISCONNECT) {
            peerOutputShut = true;
            disconnected = true;
            peerEnded = true;
        } else if (value == ControlWord.SHUTDOWN && outputShut) {
            peerOutputShut = true;
            disconnected = true; // the peer is notified of the end of this side's output, if that is still pending
        } else if (value == ControlWord.SHUTDOWN) {
            peerOutputShut = true;
        }
    }

    /**
     * Handles a failed receive: the queue pair is in the error state, and receives no more messages. The stream is
     * broken unless the peer has ended its output. If no sends are in progress, no other completion reports the
     * failure.
     */
    public void onReceiveFailed() {
        if (!isInputEnded()) {
            fail("the queue pair failed, but the peer had not ended its output");
        }
    }

    /**
     * Handles the end of the connection, as reported by the connection manager. Received data can still be read. Unless
     * the peer has ended its output in the stream, data of the peer may be missing, so the stream is broken.
     */
    public void onDisconnected() {
        if (!isInputEnded()) {
            fail("the connection ended, but the peer had not ended its output");
        }
        disconnected = true;
        peerEnded = true;
    }

    /**
     * Breaks the stream. Allocates no memory, since a call of the stream may have failed for lack of memory or stack.
     */
    public void fail(String why) {
        if (broken == null && !disconnected) {
            broken = why;
        }
    }

    /**
     * Sends due control words: credit, offers of buffers, and the end of the output. Must be called after completions
     * were handled.
     */
    public void update() {
        ConnectData to = peer;
        if (peerEnded || broken != null || !started || to == null) {
            return;
        }
        while (!disconnected && isCreditDue() && slots.hasControl(creditSlots())) {
            sendCredit(to);
        }
        sendPendingControl();
    }

    private int creditSlots() {
        return hasImmediate || !receiveBuffer.isOfferable() ? 1 : 2;
    }

    private boolean isCreditDue() {
        receiveSequence += (short) receiveBuffer.takeReadMessages();
        return receiveBuffer.isOfferable() || hasReadHalf();
    }

    /** Returns whether half of the messages of the last grant were read. */
    private boolean hasReadHalf() {
        return (short) (receiveSequence - creditMark) >= 0;
    }

    /** Doubles the credit of a peer that sends many messages, up to the size of the receive queue. */
    private void raiseCredits() {
        int more = Math.min(credits, sizes.receiveQueue() - credits);
        if (more > 0) {
            port.postReceives(more);
            credits += more;
        }
    }

    private void sendCredit(ConnectData to) {
        if (hasReadHalf()) {
            raiseCredits();
        }
        creditMark = (short) (receiveSequence + credits / 2);
        int word = ControlWord.of(ControlWord.CREDIT, receiveSequence + credits & 0xffff);
        if (!receiveBuffer.isOfferable()) {
            sendControlWord(word);
            return;
        }
        StreamPort.LocalRanges bytes = ranges.set(null, nextStagingOffset(), BufferDescriptor.LENGTH, 0, 0);
        receiveBuffer.offer().write(staging, (int) (bytes.offset() - StreamMemory.stagingOffset(sizes)));
        long entry = to.table().address() + (long) nextPeerEntry * BufferDescriptor.LENGTH;
        nextPeerEntry = (nextPeerEntry + 1) % to.table().length();
        slots.takeControl(hasImmediate ? 1 : 2);
        postWithControlWord(RequestId.CONTROL, 0, bytes, entry, to.table().key(), word);
    }

    /** Returns the offset of a staging entry. An entry is reused after as many requests as the send queue holds. */
    private long nextStagingOffset() {
        long at = StreamMemory.stagingOffset(sizes) + (long) stagingIndex * MappingEntry.LENGTH;
        stagingIndex = (stagingIndex + 1) % sizes.sendQueue();
        return at;
    }

    private void sendControlWord(int word) {
        slots.takeControl(1);
        long id = RequestId.of(RequestId.CONTROL, 0);
        if (hasImmediate) {
            port.writeWithImmediate(id, ranges.empty(), 0, 0, word);
        } else {
            port.sendControlWord(id, word);
        }
    }

    private void postWithControlWord(
            int kind, int bytes, StreamPort.LocalRanges what, long address, int key, int word) {
        long id = RequestId.of(kind, bytes);
        if (hasImmediate) {
            port.writeWithImmediate(id, what, address, key, word);
        } else {
            port.write(id, what, address, key);
            port.sendControlWord(RequestId.of(kind, 0), word);
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

    /** Returns whether at least one byte can be sent now. */
    public boolean canWrite() {
        return canSend() && sendBuffer.freeBytes() >= StreamSizes.LOW_WATER_BYTES;
    }

    /** Returns whether data could be sent now if the send buffer had space. */
    private boolean canSend() {
        return started
                && isOpen()
                && !outputShut
                && slots.hasData(hasImmediate ? 1 : 2)
                && sendSequence != sendLimit
                && peerBuffers != null
                && peerBuffers.available() > 0;
    }

    /** Returns whether this many bytes can be sent now without waiting for the peer. */
    public boolean hasSpaceFor(int bytes) {
        PeerBuffers to = peerBuffers;
        return to != null && canWrite() && bytes <= sendBuffer.freeBytes() && bytes <= to.available();
    }

    /**
     * Sends as many bytes as fit now.
     *
     * @return the number of bytes sent; 0 if none fit
     */
    public int write(ByteBuffer source) {
        announceMappings();
        PeerBuffers to = peerBuffers;
        int begin = source.position();
        while (to != null && source.hasRemaining() && (canWrite() || canSend() && sendBuffer.grow())) {
            int length = Math.min(transferBytes(source), to.available());
            StreamPort.LocalRanges bytes = sendBuffer.copy(source, length);
            long address = to.address();
            int key = to.key();
            to.advance(length);
            takeDataSlot();
            postWithControlWord(RequestId.DATA, length, bytes, address, key, ControlWord.of(ControlWord.DATA, length));
        }
        return source.position() - begin;
    }

    /** Returns the number of bytes that one message can carry now. */
    private int transferBytes(ByteBuffer source) {
        return Math.min(Math.min(source.remaining(), MAX_TRANSFER_BYTES), sendBuffer.freeBytes());
    }

    private void takeDataSlot() {
        sendSequence++;
        slots.takeData(hasImmediate ? 1 : 2);
    }

    /**
     * Sends an empty write that the peer does not notice. It keeps state in devices on the path alive and detects a
     * dead peer.
     */
    public void keepAlive() {
        if (isOpen() && started && slots.hasControl(1)) {
            slots.takeControl(1);
            port.write(RequestId.of(RequestId.CONTROL, 0), ranges.empty(), 0, 0);
        }
    }

    // ---- receiving

    /** Returns the number of bytes that can be read now. */
    public int availableBytes() {
        return inputShut ? 0 : receiveBuffer.unreadBytes();
    }

    /** Returns whether the stream ends after the available bytes. */
    public boolean isInputEnded() {
        return peerOutputShut || inputShut || disconnected;
    }

    /** Reads available bytes and grants the peer credit for them. Returns the number of bytes. */
    public int read(ByteBuffer target) {
        int count = inputShut ? 0 : receiveBuffer.read(target);
        if (count > 0) {
            update();
        }
        return count;
    }

    /** Copies available bytes without consuming them. Returns the number of bytes. */
    public int peek(ByteBuffer target) {
        return inputShut ? 0 : receiveBuffer.peek(target);
    }

    // ---- mapped memory

    /**
     * Lets the peer write to memory of this side. The peer is notified before the next data.
     *
     * @param entry the memory, and the offset by which the peer addresses it
     * @return the index of the mapping; -1 if the peer's table has no free entry
     */
    public int map(MappingEntry entry) {
        int index = mappings == null ? -1 : mappings.take(entry);
        announceMappings();
        return index;
    }

    /** Revokes a mapping. */
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
            StreamPort.LocalRanges bytes = ranges.set(null, nextStagingOffset(), MappingEntry.LENGTH, 0, 0);
            next.entry().write(staging, (int) (bytes.offset() - StreamMemory.stagingOffset(sizes)));
            long entry = to.table().address()
                    + (long) to.table().length() * BufferDescriptor.LENGTH
                    + (long) next.index() * MappingEntry.LENGTH;
            takeDataSlot();
            int word = ControlWord.of(ControlWord.MAPPING, next.index());
            postWithControlWord(RequestId.DATA, 0, bytes, entry, to.table().key(), word);
            mappings.announced();
        }
    }

    private boolean canAnnounce() {
        return started && isOpen() && !outputShut && slots.hasData(hasImmediate ? 1 : 2) && sendSequence != sendLimit;
    }

    /**
     * Writes directly into memory that the peer has mapped, without notifying the peer.
     *
     * @param source the bytes to write
     * @param offset the destination as an offset of the peer's mappings
     * @return the number of bytes written; 0 if none fit now; -1 if nothing is mapped at the offset
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
            StreamPort.LocalRanges bytes = sendBuffer.copy(source, length);
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

    /** Ends the output. The peer can read all data sent before. */
    public void shutdownOutput() {
        if (!outputShut && isOpen()) {
            outputShut = true;
            pendingControl = inputShut || peerOutputShut ? ControlWord.DISCONNECT : ControlWord.SHUTDOWN;
            update();
        }
    }

    /** Ends the input and discards available and later data. The peer is notified only if the output has also ended. */
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

    /** Ends both directions. The owner waits for {@link #isQuiet} before it disconnects. */
    public void disconnect() {
        if (isOpen()) {
            outputShut = true;
            inputShut = true;
            pendingControl = ControlWord.DISCONNECT;
            update();
        }
    }

    /** Returns whether no request is outstanding and no control word is pending. */
    public boolean isQuiet() {
        boolean starts = started || awaitsPeer;
        return slots.allFree() && (pendingControl < 0 || peerEnded || broken != null || !starts);
    }

    /** Returns whether the stream is neither disconnected nor broken. */
    public boolean isOpen() {
        return !disconnected && broken == null;
    }

    /** Returns whether either side has ended the connection in both directions. */
    public boolean isDisconnected() {
        return disconnected;
    }

    /** Returns the reason why the stream is broken, or null if it is not. */
    public @Nullable String failure() {
        return broken;
    }

    /** Returns whether this side's output has ended. */
    public boolean isOutputShut() {
        return outputShut;
    }
}
