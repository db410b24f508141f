package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The two pieces of memory that the peer writes data into, in turn. Each message follows the previous one. A piece is
 * offered to the peer again when all of its bytes were read. A message is counted as read when its last byte is read.
 *
 * <p>The pieces are the halves of one buffer until the buffer grows. If the peer had to wait for space, and the reader
 * has read everything that the peer had written, a larger buffer would have held more. The pieces that are offered next
 * are then replaced by pieces of twice the size (decision 041). If the reader is slower than the peer, a larger buffer
 * does not help, and the pieces stay as they are.
 */
final class ReceiveBuffer {
    private static final class Piece {
        private ByteBuffer memory;
        private BufferDescriptor descriptor;

        /** The memory, if it was allocated when the buffer grew. */
        private StreamPort.@Nullable ReceiveMemory grown;

        private boolean isFree = true;

        Piece(MemorySegment memory, long address, int key) {
            this.memory = memory.asByteBuffer();
            descriptor = new BufferDescriptor(address, key, this.memory.capacity());
        }

        int length() {
            return descriptor.length();
        }

        void replace(StreamPort.ReceiveMemory larger) {
            grown = larger;
            memory = larger.memory().asByteBuffer();
            descriptor = new BufferDescriptor(larger.address(), larger.key(), memory.capacity());
        }
    }

    private final StreamPort port;
    private final int limitBytes;
    private final Piece[] pieces;

    /** Lengths of the messages that are not completely read. */
    private final int[] messages;

    private int firstMessage;
    private int messageCount;

    /** The piece that contains the next byte to read, and the offset of that byte. */
    private int readPiece;

    private int readAt;
    private int unread;

    /** Bytes that the peer may still announce. */
    private int offered;

    /** True if the peer has used up the offered memory since the reader last read all bytes. */
    private boolean peerWaited;

    /** The size in bytes that the buffer has or will have after it has grown. */
    private int sizeBytes;

    private int nextOffer;
    private int readMessages;

    ReceiveBuffer(StreamMemory memory, StreamSizes sizes, StreamPort port, int limitBytes) {
        this.port = port;
        this.limitBytes = limitBytes;
        sizeBytes = sizes.receiveBufferBytes();
        int half = sizeBytes / 2;
        pieces = new Piece[] {
            new Piece(memory.receive().asSlice(0, half), memory.receiveAddress(), memory.receiveKey()),
            new Piece(memory.receive().asSlice(half, half), memory.receiveAddress() + half, memory.receiveKey())
        };
        messages = new int[sizes.receiveQueue()];
    }

    /** Returns whether the next piece can be offered to the peer. */
    boolean isOfferable() {
        return pieces[nextOffer].isFree;
    }

    /** Offers the next piece, which is free, to the peer. Returns its descriptor. */
    BufferDescriptor offer() {
        Piece piece = pieces[nextOffer];
        if (piece.length() < sizeBytes / 2) {
            enlarge(piece);
        }
        piece.isFree = false;
        offered += piece.length();
        nextOffer = 1 - nextOffer;
        return piece.descriptor;
    }

    private void enlarge(Piece piece) {
        StreamPort.ReceiveMemory larger = port.allocateReceiveMemory(sizeBytes / 2);
        if (larger == null) {
            return; // the next growth tries again
        }
        StreamPort.ReceiveMemory before = piece.grown;
        piece.replace(larger);
        if (before != null) {
            port.releaseReceiveMemory(before);
        }
    }

    /**
     * Adds a message that the peer has written. Returns false if it exceeds the offered memory or the receive queue.
     */
    boolean onData(int length) {
        if (length > offered) {
            return false;
        }
        if (length == 0) {
            readMessages++;
            return true;
        }
        if (messageCount == messages.length) {
            return false;
        }
        messages[(firstMessage + messageCount) % messages.length] = length;
        messageCount++;
        offered -= length;
        unread += length;
        peerWaited |= offered == 0;
        return true;
    }

    int unreadBytes() {
        return unread;
    }

    /** Returns the number of messages completely read since the last call. */
    int takeReadMessages() {
        int count = readMessages;
        readMessages = 0;
        return count;
    }

    /** Moves available bytes into a buffer and returns their number. */
    int read(ByteBuffer target) {
        int length = peek(target);
        free(length);
        if (unread == 0 && peerWaited) {
            peerWaited = false;
            sizeBytes = Math.max(sizeBytes, BufferLimits.doubled(sizeBytes, limitBytes) & ~1);
        }
        return length;
    }

    /** Discards all unread bytes. */
    void discard() {
        free(unread);
    }

    private void free(int length) {
        unread -= length;
        freePieces(length);
        int left = length;
        while (left > 0) {
            int first = messages[firstMessage];
            if (left < first) {
                messages[firstMessage] = first - left;
                break;
            }
            left -= first;
            firstMessage = (firstMessage + 1) % messages.length;
            messageCount--;
            readMessages++;
        }
    }

    private void freePieces(int length) {
        int left = length;
        while (left > 0) {
            Piece piece = pieces[readPiece];
            int here = Math.min(left, piece.length() - readAt);
            readAt += here;
            left -= here;
            if (readAt == piece.length()) {
                piece.isFree = true;
                readPiece = 1 - readPiece;
                readAt = 0;
            }
        }
    }

    /** Copies available bytes into a buffer without consuming them and returns their number. */
    int peek(ByteBuffer target) {
        int length = Math.min(unread, target.remaining());
        int here = Math.min(length, pieces[readPiece].length() - readAt);
        copyOut(target, readPiece, readAt, here);
        copyOut(target, 1 - readPiece, 0, length - here);
        return length;
    }

    private void copyOut(ByteBuffer target, int piece, int at, int length) {
        if (length > 0) {
            target.put(target.position(), pieces[piece].memory, at, length);
            target.position(target.position() + length);
        }
    }
}
