package io.rdma4j.sockets.stream;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a reliable connection that a stream needs. All requests are signaled and complete in posting order.
 * The bytes lie in the stream's {@link StreamMemory#local()}, or in memory of {@link #allocateSendMemory}, in one range
 * or in two. If a port allocates no memory, its streams have buffers of a fixed size.
 */
public interface StreamPort {
    /**
     * Writes into the peer's memory without notifying the peer.
     *
     * @param id the ID that the completion returns
     * @param bytes the bytes to write
     * @param remoteAddress the destination address
     * @param remoteKey the key of the peer's memory
     */
    void write(long id, LocalRanges bytes, long remoteAddress, int remoteKey);

    /**
     * Writes bytes, possibly none, into the peer's memory, with a control word as immediate data. C:
     * RDMA_WRITE_WITH_IMM.
     */
    void writeWithImmediate(long id, LocalRanges bytes, long remoteAddress, int remoteKey, int controlWord);

    /**
     * Sends a control word as a message of 4 bytes in this host's byte order, for transports without immediate data.
     */
    void sendControlWord(long id, int controlWord);

    /**
     * Posts further receives, so that the peer may send more messages. A port that has posted as many as the receive
     * queue holds does nothing.
     */
    default void postReceives(int more) {}

    /**
     * Memory that the peer may write data into.
     *
     * @param memory the memory, zeroed
     * @param address its remote address
     * @param key its remote key
     */
    record ReceiveMemory(MemorySegment memory, long address, int key) {}

    /**
     * Allocates and registers memory for a receive buffer that grows.
     *
     * @return null if there is no memory; the buffer then keeps its size
     */
    default @Nullable ReceiveMemory allocateReceiveMemory(int bytes) {
        return null;
    }

    /** Releases memory of {@link #allocateReceiveMemory}. The peer has filled it and may not write to it again. */
    default void releaseReceiveMemory(ReceiveMemory memory) {}

    /** Memory to send from, in addition to {@link StreamMemory#local()}. */
    interface SendMemory {
        /** Returns the memory. */
        MemorySegment memory();
    }

    /**
     * Allocates and registers memory for a send buffer that grows.
     *
     * @return null if there is no memory; the buffer then keeps its size
     */
    default @Nullable SendMemory allocateSendMemory(int bytes) {
        return null;
    }

    /** Releases memory of {@link #allocateSendMemory}. No request that refers to it is outstanding. */
    default void releaseSendMemory(SendMemory memory) {}

    /**
     * Bytes of local memory: one range, or two if they wrap around the end of a ring. Reused: valid only during the
     * call. Not thread safe.
     */
    final class LocalRanges {
        private @Nullable SendMemory memory;
        private long offset;
        private int length;
        private long secondOffset;
        private int secondLength;

        LocalRanges empty() {
            return set(null, 0, 0, 0, 0);
        }

        LocalRanges set(
                @Nullable SendMemory newMemory,
                long newOffset,
                int newLength,
                long newSecondOffset,
                int newSecondLength) {
            memory = newMemory;
            offset = newOffset;
            length = newLength;
            secondOffset = newSecondOffset;
            secondLength = newSecondLength;
            return this;
        }

        /** Returns the memory of the ranges; null for {@link StreamMemory#local()}. */
        public @Nullable SendMemory memory() {
            return memory;
        }

        /** Returns the offset of the first range. */
        public long offset() {
            return offset;
        }

        /** Returns the length of the first range in bytes; 0 if it is empty. */
        public int length() {
            return length;
        }

        /** Returns the offset of the second range. */
        public long secondOffset() {
            return secondOffset;
        }

        /** Returns the length of the second range in bytes; 0 if it is empty. */
        public int secondLength() {
            return secondLength;
        }

        /** Returns the length of both ranges in bytes. */
        public int totalLength() {
            return length + secondLength;
        }
    }
}
