package io.rdma4j.transport;

import io.rdma4j.wire.CongestionNotification;
import io.rdma4j.wire.Ecn;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;

/**
 * Congestion control by marks of the network (DCQCN): tells the peer when its packets arrive with congestion marks, and
 * reduces this side's rate ({@link SendRate}) when the peer reports marks. Source: InfiniBand Architecture volume 1,
 * annex A17, A17.9; Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015.
 *
 * <p>Marks are always reported. Packets are declared capable, so that routers mark them instead of dropping them, only
 * towards a peer that is known to send notifications.
 */
final class CongestionControl {
    /** Minimum time between two notifications, as network cards keep. */
    static final long NOTIFICATION_INTERVAL_NANOS = 50_000;

    private final QueuePairCounters counters;
    private final SendRate rate = new SendRate();
    private CongestionMarks marks = CongestionMarks.LEARN;
    private boolean isCapable;
    private boolean isNotificationDue;
    private boolean hasNotified;
    private long notifiedNanos;

    CongestionControl(QueuePairCounters counters) {
        this.counters = counters;
    }

    /** Sets whether packets may be marked after the next {@link #start}. */
    void marks(CongestionMarks newMarks) {
        marks = newMarks;
    }

    /** Starts with a new peer, without a rate limit. */
    void start() {
        isCapable = marks == CongestionMarks.ON;
        isNotificationDue = false;
        hasNotified = false;
        rate.start();
    }

    /** Returns whether packets must be sent as by a sender that reacts to marks. */
    boolean isCapable() {
        return isCapable;
    }

    /** Returns the limit of the rate of packets with payload. */
    SendRate rate() {
        return rate;
    }

    /** Notes the traffic class of a packet of a capable peer, which is in sequence or an expected response. */
    void onPacket(long nowNanos, Packet packet) {
        int trafficClass = packet.frame().trafficClass;
        isCapable |= marks == CongestionMarks.LEARN;
        if (Ecn.isMarked(trafficClass) && packet.payloadLength() > 0) {
            counters.congestionMarks++;
            isNotificationDue |= !hasNotified || nowNanos - notifiedNanos >= NOTIFICATION_INTERVAL_NANOS;
        }
    }

    /**
     * Handles a notification of the peer. A notification has no PSN, so anyone who knows the addresses and the ports
     * can forge it. It is obeyed only if it can be true: packets that routers may mark were sent recently.
     *
     * @param roundTripNanos the smoothed round-trip time, 0 if unknown
     * @return {@code false} if the notification cannot be true
     */
    boolean onNotification(long nowNanos, long roundTripNanos) {
        counters.receivedCongestionNotifications++;
        if (!isCapable || !rate.hasSentLately(nowNanos, roundTripNanos)) {
            return false;
        }
        rate.onNotification(nowNanos, roundTripNanos);
        return true;
    }

    /** Writes a notification if one is due; returns its length or 0. */
    int pollNotification(long nowNanos, int peerNumber, MemorySegment out, long at) {
        if (!isNotificationDue) {
            return 0;
        }
        isNotificationDue = false;
        hasNotified = true;
        notifiedNanos = nowNanos;
        counters.sentCongestionNotifications++;
        counters.sentPackets++;
        CongestionNotification.write(out, at, QueuePairMachine.PARTITION_KEY, peerNumber);
        return CongestionNotification.LENGTH;
    }
}
