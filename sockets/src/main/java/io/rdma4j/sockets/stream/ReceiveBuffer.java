package io.rdma4j.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The ring buffer that the peer writes data into. It is offered to the peer in halves. Each message follows the
 * previous one in the ring. A message is counted as read when its last byte is read.
 */
final class ReceiveBuffer {
    private final ByteBuffer memory;
    private final int size;

    /** Lengths of the messages that are not completely read. */
    private final int[] messages;

    private int firstMessage;
    private int messageCount;

    private int readAt;
    private int unread;

    /** Bytes that the peer may still announce. */
    private int offered;

    /** Bytes that were read and not offered again. */
    private int freed;

    private int nextOffer;
    private int readMessages;

    ReceiveBuffer(MemorySegment memory, int size, int maxMessages) {
        this.memory = memory.asSlice(0, size).asByteBuffer();
        this.size = size;
        this.messages = new int[maxMessages];
        this.freed = size;
    }

    /** Returns the offset of the next half to offer, or -1 if it is not free. */
    int offerable() {
        return freed >= size / 2 ? nextOffer : -1;
    }

    int halfBytes() {
        return size / 2;
    }

    /** Marks the next half as offered to the peer. */
    void offer() {
        freed -= size / 2;
        offered += size / 2;
        nextOffer = nextOffer == 0 ? size / 2 : 0;
    }

    /** Adds a message that the peer has written. Returns false if it exceeds what was offered. */
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
        return length;
    }

    /** Discards all unread bytes. */
    void discard() {
        free(unread);
    }

    private void free(int length) {
        readAt = Ring.advance(readAt, length, size);
        unread -= length;
        freed += length;
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

    /** Copies available bytes into a buffer without consuming them and returns their number. */
    int peek(ByteBuffer target) {
        int length = Math.min(unread, target.remaining());
        int beforeWrap = Math.min(length, size - readAt);
        copyOut(target, readAt, beforeWrap);
        copyOut(target, 0, length - beforeWrap);
        return length;
    }

    private void copyOut(ByteBuffer target, int at, int length) {
        if (length > 0) {
            target.put(target.position(), memory, at, length);
            target.position(target.position() + length);
        }
    }
}
