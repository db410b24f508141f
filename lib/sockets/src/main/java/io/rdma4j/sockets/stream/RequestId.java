package io.rdma4j.sockets.stream;

/** The ID of a send work request: the kind of send queue entry it occupies and its bytes of the send buffer. */
final class RequestId {
    /** An entry for data. */
    static final int DATA = 1;

    /** An entry for control messages. */
    static final int CONTROL = 2;

    private static final int SHIFT = 32;

    private RequestId() {}

    static long of(int kind, int bytes) {
        return (long) kind << SHIFT | bytes;
    }

    static int kind(long id) {
        return (int) (id >>> SHIFT);
    }

    static int bytes(long id) {
        return (int) id;
    }
}
