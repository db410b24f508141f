package io.rdma4j.sockets.stream;

/** Places in a ring of bytes, which may be as large as an int can say. */
final class Ring {
    private Ring() {}

    /** The place that lies {@code length} bytes on, at most once around. */
    static int advance(int at, int length, int size) {
        int rest = size - at;
        return length < rest ? at + length : length - rest;
    }
}
