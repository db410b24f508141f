package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.net.InetAddress;

/**
 * An engine's access to UDP port 4791 of one local address, with a link of that engine.
 *
 * <p>All methods are called under that engine's lock unless stated otherwise.
 */
public abstract class Port {
    private final InetAddress address;
    private final long high;
    private final long low;

    /** Creates the port of a local address. */
    protected Port(InetAddress address) {
        this.address = address;
        high = GidAddresses.high(address);
        low = GidAddresses.low(address);
    }

    /** Returns the local address. Any thread. */
    public final InetAddress address() {
        return address;
    }

    /** Returns the upper half of the address in GID form. Any thread. */
    public final long high() {
        return high;
    }

    /** Returns the lower half of the address in GID form. Any thread. */
    public final long low() {
        return low;
    }

    /** Returns the interface index of a link-local address, otherwise 0. Any thread. */
    public final int scope() {
        return Interfaces.scope(address);
    }

    /** Returns the link that frames are sent through. */
    public abstract Link link();

    /** Sets the source of a frame that is sent through this port. */
    public final void fillSource(Frame frame) {
        frame.sourceHigh = high;
        frame.sourceLow = low;
        frame.sourcePort = link().localAddress().getPort();
    }

    /**
     * Receives a burst; returns the number of frames and messages.
     *
     * @param all true to include sources that rarely have input: each poll is a system call
     */
    public abstract int receive(long nowNanos, boolean all);

    /**
     * Receives a burst from the sources that {@link #receive} does not poll each time; returns the number of frames. Called by a
     * leader whose poll found nothing: input left there, from any sender, would keep it from blocking.
     */
    public abstract int receiveStray(long nowNanos);

    /** Returns the time at which {@link #receive} must be called even without input. */
    public abstract long nextDeadlineNanos();

    /**
     * Relays a frame to the process of a slot that shares the address. Returns false if there is none, as for a port that only
     * this process receives from.
     */
    public boolean relay(int slot, Frame frame) {
        return false;
    }

    /**
     * Returns whether a management datagram is for this process, and relays it if it is (only or also) for another process that
     * shares the address.
     */
    public boolean routeGsi(Packet packet) {
        return true;
    }

    @Override
    public String toString() {
        return "port " + new Gid(high, low).addressText();
    }
}
