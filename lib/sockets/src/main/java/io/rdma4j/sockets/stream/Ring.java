package io.rdma4j.sockets.stream;

/** Arithmetic for offsets in a ring of bytes of up to {@link Integer#MAX_VALUE} bytes. */
final class Ring {
    private Ring() {}

    /** Returns the offset {@code length} bytes after {@code at}; {@code length} is at most {@code size}. */
    static int advance(int at, int length, int size) {
        int rest = size - at;
        return length < rest ? at + length : length - rest;
    }
}
