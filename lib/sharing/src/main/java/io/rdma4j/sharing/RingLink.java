package io.rdma4j.sharing;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.SendRing;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;

/**
 * The link of a port that exchanges frames with processes of this host through rings in shared memory, and with all others through
 * UDP.
 *
 * <p>While frames come through rings, it rarely polls UDP, since that is a system call. Frames from UDP are returned
 * only after the frames that were in the rings when they arrived: if a process is killed, another one disconnects its
 * peers by UDP, and this must be processed after everything that the killed process has written.
 */
final class RingLink extends ForwardingLink {
    private static final int BURST_FRAMES = 128;

    /** The interval at which UDP is polled while only rings have frames. */
    private static final long POLL_INTERVAL_NANOS = 50_000;

    /** After frames by UDP, it is always polled for this time. */
    private static final long BUSY_NANOS = 1_000_000;

    /** The maximum number of polls for which frames from UDP wait for rings that never become empty: more than a full ring needs. */
    private static final int MAX_POLLS = 300;

    private final PortRings rings;
    private final boolean sealsReceived;
    private final Icrc icrc = new Icrc();
    private final ReceiveBurst fromUdp = new ReceiveBurst(BURST_FRAMES);

    /** The frames of {@link #fromUdp} that were returned. */
    private int returned;

    /** The polls since {@link #fromUdp} was filled. */
    private int polls;

    private long now;
    private boolean mustPollUdp = true;
    private long lastUdpPollNanos;
    private long lastUdpFrameNanos;

    /**
     * Wraps a link.
     *
     * @param sealsReceived true to complete the ICRC of received frames that have none, for a capture or faults
     */
    RingLink(Link udp, PortRings rings, boolean sealsReceived) {
        super(udp);
        this.rings = rings;
        this.sealsReceived = sealsReceived;
    }

    @Override
    public boolean needsIcrc(SendBurst burst) {
        return rings.to(burst) == null;
    }

    @Override
    public boolean hasRoom(long destinationHigh, long destinationLow, int queuePairNumber, int bytes) {
        return rings.hasRoom(destinationHigh, destinationLow, queuePairNumber, bytes);
    }

    @Override
    public void send(SendBurst burst) {
        SendRing ring = rings.to(burst);
        if (ring != null) {
            rings.send(ring, burst, burst.sourcePort(localAddress().getPort()));
        } else if (burst.isSealed()) {
            inner.send(burst);
        } else {
            rings.drop(burst); // the process has ended since the caller checked whether it has a ring
        }
    }

    /** Sets the time of the next {@link #poll}, and whether it polls everything: each poll of UDP is a system call. */
    void preparePoll(long nowNanos, boolean all) {
        now = nowNanos;
        mustPollUdp = all
                || !rings.isBusy(nowNanos)
                || nowNanos - lastUdpPollNanos >= POLL_INTERVAL_NANOS
                || nowNanos - lastUdpFrameNanos < BUSY_NANOS;
    }

    @Override
    public int poll(ReceiveBurst burst) {
        if (rings.isEmpty() && returned == fromUdp.count()) {
            return inner.poll(burst);
        }
        burst.clear();
        pollUdp();
        int added = rings.poll(now, burst);
        if (sealsReceived) {
            seal(burst);
        }
        if (added == 0 || ++polls > MAX_POLLS) {
            while (returned < fromUdp.count() && !burst.isFull()) {
                burst.add().set(fromUdp.frame(returned++));
            }
        }
        return burst.count();
    }

    private void pollUdp() {
        if (mustPollUdp && returned == fromUdp.count()) {
            returned = 0;
            polls = 0;
            lastUdpPollNanos = now;
            if (inner.poll(fromUdp) > 0) {
                lastUdpFrameNanos = now;
            }
        }
    }

    private void seal(ReceiveBurst burst) {
        for (int i = 0; i < burst.count(); i++) {
            Frame frame = burst.frame(i);
            if (!frame.isSealed && frame.length > Icrc.LENGTH) {
                icrc.seal(frame);
                frame.isSealed = true;
            }
        }
    }
}
