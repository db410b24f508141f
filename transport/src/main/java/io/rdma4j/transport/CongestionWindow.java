package io.rdma4j.transport;

/**
 * How many packets may be in flight: additive increase and multiplicative decrease, as TCP shares a link since RFC 5681,
 * with the gentler decrease of CUBIC (RFC 9438, 4.6), since a loss here costs all that was sent behind it as well.
 *
 * <p>It opens while the window, and not the application, is what holds packets back: by what is acknowledged up to the
 * size that last went well, from there on by one packet per window. It closes once per window of packets in which one was
 * lost, now and then when it is as open as it may be, and to the least when the acknowledgement time-out has passed in
 * silence.
 */
final class CongestionWindow {
    /** Packets that may be in flight whatever happens. */
    static final int LEAST_PACKETS = 4;

    /** What is left of the window after a loss, in percent. */
    private static final int DECREASE_PERCENT = 70;

    /** A window that is as open as it may be stays so for so many windows of packets. */
    private static final int OPEN_WINDOWS = 64;

    private int most = LEAST_PACKETS;
    private int packets = LEAST_PACKETS;
    private int threshold = LEAST_PACKETS;

    /** Packets acknowledged towards the next one that the window opens by. */
    private int credit;

    /** Whether the window has held a packet back since it was opened last. */
    private boolean isLimiting;

    /** Losses of packets before this sequence are the loss that the window was closed for. */
    private long recoveryEnd;

    /** Begins. */
    void start(int initialPackets, int mostPackets, long sequence) {
        most = Math.max(LEAST_PACKETS, mostPackets);
        packets = Math.clamp(initialPackets, LEAST_PACKETS, most);
        threshold = most;
        credit = 0;
        isLimiting = false;
        recoveryEnd = sequence;
    }

    /** Packets that may be in flight. */
    int packets() {
        return packets;
    }

    /** A packet was held back since the window is full. */
    void onLimit() {
        isLimiting = true;
    }

    /** So many packets more are acknowledged. */
    void onAcknowledged(long count) {
        if (!isLimiting) {
            return;
        }
        isLimiting = false;
        if (packets == most) {
            giveWay(count);
            return;
        }
        if (packets < threshold) {
            packets = (int) Math.min(threshold, packets + count);
            return;
        }
        credit += (int) Math.min(count, packets);
        if (credit >= packets) {
            credit -= packets;
            packets++;
        }
    }

    /** The window has been open for a while: it closes as after a loss, so that others find room in the buffers on the way. */
    private void giveWay(long count) {
        credit += (int) Math.min(count, packets);
        if (credit >= OPEN_WINDOWS * packets) {
            close();
        }
    }

    private void close() {
        threshold = Math.max(LEAST_PACKETS, packets * DECREASE_PERCENT / 100);
        packets = threshold;
        credit = 0;
    }

    /** Packet {@code sequence} was lost, and packets before {@code sentEnd} have been sent. */
    void onLoss(long sequence, long sentEnd) {
        if (sequence < recoveryEnd) {
            return;
        }
        recoveryEnd = sentEnd;
        close();
    }

    /** Nothing was heard for a whole time-out. */
    void onSilence(long sentEnd) {
        recoveryEnd = sentEnd;
        threshold = Math.max(LEAST_PACKETS, packets / 2);
        packets = LEAST_PACKETS;
        credit = 0;
    }
}
