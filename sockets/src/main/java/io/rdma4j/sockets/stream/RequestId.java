package io.rdma4j.sockets.stream;

/** What the completion of a send work request has to give back: the kind of place it took, and bytes of the send buffer. */
final class RequestId {
    /** A place for data. */
    static final int DATA = 1;

    /** A place for control messages. */
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
