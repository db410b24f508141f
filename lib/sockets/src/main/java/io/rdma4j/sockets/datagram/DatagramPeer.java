package io.rdma4j.sockets.datagram;

import org.jspecify.annotations.Nullable;

/** The state of a peer: an address with a port. Not thread safe. */
final class DatagramPeer {
    /** The lowest number of an ordinary queue pair; lower ones are management queue pairs. */
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

    DatagramPeer(DatagramAddress address) {
        this.address = address;
        host = new DatagramAddress(address.high(), address.low(), address.scope(), 0);
    }

    /** Returns whether a number can be the number of a peer's queue pair. */
    static boolean isNumber(int queuePairNumber) {
        return queuePairNumber >= FIRST_NUMBER && queuePairNumber < MULTICAST;
    }

    DatagramAddress address() {
        return address;
    }

    /** Returns the address without the port. */
    DatagramAddress host() {
        return host;
    }

    /** Returns the group that contains the peer, or null if it was removed. */
    @Nullable
    PeerGroup group() {
        return group;
    }

    void group(@Nullable PeerGroup value) {
        group = value;
    }

    /** Returns the number of the peer's queue pair, or 0 if it is unknown. */
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

    /** Records that a message arrived from the peer, which has this queue pair. */
    void learn(int number, long nowNanos) {
        queuePairNumber = number;
        heardNanos = nowNanos;
    }

    /** Records that the peer was asked for its queue pair. */
    void asked(long nowNanos) {
        askedNanos = nowNanos;
        unanswered++;
    }

    /** Returns whether a recent question to the peer is unanswered. */
    boolean owesAnswer(long nowNanos, long patienceNanos) {
        return unanswered > 0 && nowNanos - askedNanos < patienceNanos;
    }

    void answered() {
        unanswered--;
    }

    /**
     * Returns whether the peer must be asked for its queue pair. This is the case if its queue pair is unknown, or if
     * the last message from it and the last unanswered question are too old.
     */
    boolean isToBeAsked(long nowNanos, long confirmNanos) {
        return queuePairNumber == 0
                || nowNanos - heardNanos >= confirmNanos && (unanswered == 0 || nowNanos - askedNanos >= confirmNanos);
    }

    /** Detaches the peer from a removed local end; the peer is asked again before the next datagram. */
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
