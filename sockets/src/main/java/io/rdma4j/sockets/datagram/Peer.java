package io.rdma4j.sockets.datagram;

import org.jspecify.annotations.Nullable;

/** What is known of a peer: an address with a port. Not thread safe. */
final class Peer {
    /** Numbers of queue pairs begin behind those of management. */
    private static final int FIRST_NUMBER = 2;

    private static final int MULTICAST = 0xff_ffff;

    private final DatagramAddress address;
    private final DatagramAddress host;
    private @Nullable PeerGroup group;
    private @Nullable LocalEnd end;
    private @Nullable DatagramPath path;
    private int queuePairNumber;
    private long heardNanos;
    private long askedNanos;
    private int unanswered;

    Peer(DatagramAddress address) {
        this.address = address;
        host = new DatagramAddress(address.high(), address.low(), address.scope(), 0);
    }

    /** Whether a queue pair can have this number. */
    static boolean isNumber(int queuePairNumber) {
        return queuePairNumber >= FIRST_NUMBER && queuePairNumber < MULTICAST;
    }

    DatagramAddress address() {
        return address;
    }

    /** Its address without the port. */
    DatagramAddress host() {
        return host;
    }

    /** The group that it is in, or null if it has been forgotten. */
    @Nullable
    PeerGroup group() {
        return group;
    }

    void group(@Nullable PeerGroup value) {
        group = value;
    }

    /** Its queue pair, or 0 while that is not known. */
    int queuePairNumber() {
        return queuePairNumber;
    }

    @Nullable
    LocalEnd end() {
        return end;
    }

    void end(LocalEnd value) {
        end = value;
    }

    @Nullable
    DatagramPath path() {
        return path;
    }

    void path(DatagramPath value) {
        path = value;
    }

    /** It was heard of from this queue pair. */
    void learn(int number, long nowNanos) {
        queuePairNumber = number;
        heardNanos = nowNanos;
    }

    /** It was asked for its queue pair. */
    void asked(long nowNanos) {
        askedNanos = nowNanos;
        unanswered++;
    }

    /** Whether it owes an answer to a question that is not too old. */
    boolean owesAnswer(long nowNanos, long patienceNanos) {
        return unanswered > 0 && nowNanos - askedNanos < patienceNanos;
    }

    void answered() {
        unanswered--;
    }

    /** Whether it is to be asked: nothing is known, or nothing was heard for so long and it was not asked meanwhile. */
    boolean isToBeAsked(long nowNanos, long confirmNanos) {
        return queuePairNumber == 0
                || nowNanos - heardNanos >= confirmNanos && (unanswered == 0 || nowNanos - askedNanos >= confirmNanos);
    }

    /** It is reached from elsewhere, if it was reached from this end, and is to be asked first. */
    void leave(LocalEnd from) {
        if (end == from) {
            close();
            end = null;
            queuePairNumber = 0;
        }
    }

    void close() {
        if (path != null) {
            path.close();
            path = null;
        }
    }
}
