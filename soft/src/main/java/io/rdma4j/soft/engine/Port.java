package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.wire.Frame;
import java.net.InetAddress;

/**
 * One local address as RoCEv2 uses it, UDP port 4791, and as one engine does: with a link of that engine. All methods under
 * that engine's lock unless they say otherwise.
 */
public abstract class Port {
    private final InetAddress address;
    private final long high;
    private final long low;

    /** Duty cycles since something came. */
    int idleCycles;

    Port(InetAddress address) {
        this.address = address;
        high = GidAddresses.high(address);
        low = GidAddresses.low(address);
    }

    /** The local address. Any thread. */
    public final InetAddress address() {
        return address;
    }

    /** Upper half of the address in GID form. Any thread. */
    public final long high() {
        return high;
    }

    /** Lower half of the address in GID form. Any thread. */
    public final long low() {
        return low;
    }

    /** Interface index of a link-local address, else 0. Any thread. */
    public final int scope() {
        return GidAddresses.scope(address);
    }

    final boolean isAt(long otherHigh, long otherLow) {
        return low == otherLow && high == otherHigh;
    }

    /** Where frames leave. */
    abstract Link link();

    final void fillSource(Frame frame) {
        frame.sourceHigh = high;
        frame.sourceLow = low;
        frame.sourcePort = link().localAddress().getPort();
    }

    /**
     * Takes a burst of what has arrived; returns the number of frames and messages.
     *
     * @param all whether to look also where little comes: each look is a system call
     */
    abstract int receive(long nowNanos, boolean all);

    /**
     * Takes a burst of what has come where {@link #receive} does not look each time; returns the number of frames. For a leader
     * whose look has found nothing: what is left there, from whomever, would not let it sleep.
     */
    abstract int receiveStray(long nowNanos);

    /** When {@link #receive} is to be called though nothing arrives. */
    abstract long nextDeadlineNanos();

    /** Waits until packets for this process arrive. Any thread, without an engine's lock. */
    abstract void awaitConnected(long deadlineNanos);

    @Override
    public String toString() {
        return "port " + GidAddresses.text(address);
    }
}
