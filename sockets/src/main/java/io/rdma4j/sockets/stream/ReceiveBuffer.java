package io.rdma4j.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The ring that the peer writes data into. It is offered to the peer in halves; what the peer announces lies where the last
 * announcement ended. Messages count one each when their last byte is read.
 */
final class ReceiveBuffer {
    private final ByteBuffer memory;
    private final int size;

    /** Lengths of the messages that are not read to their end. */
    private final int[] messages;

    private int firstMessage;
    private int messageCount;

    private int readAt;
    private int unread;

    /** Bytes that the peer may still announce. */
    private int offered;

    /** Bytes that are read and not offered again. */
    private int freed;

    private int nextOffer;
    private int readMessages;

    ReceiveBuffer(MemorySegment memory, int size, int mostMessages) {
        this.memory = memory.asSlice(0, size).asByteBuffer();
        this.size = size;
        this.messages = new int[mostMessages];
        this.freed = size;
    }

    /** Where in the ring the next half to be offered begins, or -1 while it is not free. */
    int offerable() {
        return freed >= size / 2 ? nextOffer : -1;
    }

    int halfBytes() {
        return size / 2;
    }

    /** The half has been offered to the peer. */
    void offer() {
        freed -= size / 2;
        offered += size / 2;
        nextOffer = nextOffer == 0 ? size / 2 : 0;
    }

    /** The peer has written a message; false if it had no right to. */
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
        return true;
    }

    int unreadBytes() {
        return unread;
    }

    /** Messages read to their end since this was asked last. */
    int takeReadMessages() {
        int count = readMessages;
        readMessages = 0;
        return count;
    }

    /** Copies what is there into a buffer and frees it; returns how many bytes. */
    int read(ByteBuffer target) {
        int length = peek(target);
        free(length);
        return length;
    }

    /** Frees what is there, unread. */
    void discard() {
        free(unread);
    }

    private void free(int length) {
        readAt = Ring.advance(readAt, length, size);
        unread -= length;
        freed += length;
        int left = length;
        while (left > 0) {
            int rest = messages[firstMessage];
            if (left < rest) {
                messages[firstMessage] = rest - left;
                break;
            }
            left -= rest;
            firstMessage = (firstMessage + 1) % messages.length;
            messageCount--;
            readMessages++;
        }
    }

    /** Copies what is there into a buffer and leaves it; returns how many bytes. */
    int peek(ByteBuffer target) {
        int length = Math.min(unread, target.remaining());
        int first = Math.min(length, size - readAt);
        give(target, readAt, first);
        give(target, 0, length - first);
        return length;
    }

    private void give(ByteBuffer target, int at, int length) {
        if (length > 0) {
            target.put(target.position(), memory, at, length);
            target.position(target.position() + length);
        }
    }
}
