package io.rdma4j.sockets.stream;

/**
 * What a stream needs of a reliable connection. All requests are signaled, and end in the order in which they were posted.
 * The bytes lie in the stream's {@link StreamMemory#local()}, in one piece or in two.
 */
public interface StreamPort {
    /**
     * Writes into the peer's memory, and says nothing of it to the peer.
     *
     * @param id comes back with the completion
     * @param bytes what to write
     * @param remoteAddress where to
     * @param remoteKey key of the peer's memory
     */
    void write(long id, Piece bytes, long remoteAddress, int remoteKey);

    /** Writes into the peer's memory, maybe nothing, with a control word as immediate data. */
    void writeWithWord(long id, Piece bytes, long remoteAddress, int remoteKey, int word);

    /** Sends a control word as a message of 4 bytes in this host's byte order, where there is no immediate data. */
    void sendWord(long id, int word);

    /** Bytes of the local memory, of which the second part may be empty. Reused: valid during the call. Not thread safe. */
    final class Piece {
        private long offset;
        private int length;
        private long secondOffset;
        private int secondLength;

        Piece nothing() {
            return at(0, 0, 0, 0);
        }

        Piece at(long newOffset, int newLength, long newSecondOffset, int newSecondLength) {
            offset = newOffset;
            length = newLength;
            secondOffset = newSecondOffset;
            secondLength = newSecondLength;
            return this;
        }

        /** Where the bytes begin. */
        public long offset() {
            return offset;
        }

        /** How many they are; 0 for none. */
        public int length() {
            return length;
        }

        /** Where the rest of them begins. */
        public long secondOffset() {
            return secondOffset;
        }

        /** How many the rest are; 0 for none. */
        public int secondLength() {
            return secondLength;
        }

        /** All of them. */
        public int totalLength() {
            return length + secondLength;
        }
    }
}
