package io.rdma4j.link;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A factory of links and local channels that one thread can wait for together.
 *
 * <p>One thread at a time may call {@link #await}. One thread at a time may open, poll, send and close, even while another thread
 * waits: the waiting thread takes new and closed links into account. {@link #wakeup} may be called from any thread. An interrupt
 * does not prevent later waits; it may let {@link #await} return early once.
 */
public interface LinkSet extends AutoCloseable {
    /** Returns the short name of the implementation, for messages: {@code nio} or {@code linux}. */
    String name();

    /**
     * Opens a UDP link on a local address.
     *
     * <p>Frames are sent unfragmented with IPv4 identification 0, which the ICRC depends on. For segmented sends see
     * {@link LinkCapabilities#identificationCountsSegments}. Frames to a multicast group are sent on the interface of
     * {@code address}, and are also delivered to links of this host ({@link #openMulticast}).
     *
     * @param address a local unicast address; an IPv6 link-local one carries its scope
     * @param port UDP port, or 0 for any free one
     * @throws java.net.BindException if the port is in use or the address is not local
     * @throws IOException if the link cannot be opened for another reason
     */
    Link openUdp(InetAddress address, int port) throws IOException;

    /**
     * Opens a link on a UDP port that another process of this user holds, and directs the port's input to the new link, to
     * replace a process that is stopped. The link of the other process still sends from the port. The new link keeps its input
     * only while {@link Link#claimInput} is called from time to time, since the system renumbers the sockets of a port when one
     * of them is closed.
     *
     * <p>{@link #openUdp} always binds exclusively. A caller that finds a port in use must decide by other means whether it may
     * take it.
     *
     * @param address a local unicast address; an IPv6 link-local one carries its scope
     * @param port UDP port, not 0
     * @throws java.net.BindException if this kind of link set cannot do this, a process of another user holds the port, or its
     *     holder does not allow it (the {@code nio} link set never does)
     * @throws IOException if the link cannot be opened for another reason
     */
    default Link openBeside(InetAddress address, int port) throws IOException {
        throw new BindException("the " + name() + " link set cannot take UDP port " + port + " from another process");
    }

    /** Returns whether {@link #openBeside} is supported. */
    default boolean opensBeside() {
        return false;
    }

    /**
     * Opens another link on the address and UDP port of {@code first}, which receives the frames with a destination queue pair
     * number in a range. All other frames are still delivered to {@code first}. Several threads, each with its own link set, can
     * thereby serve one address. {@code first} may belong to another set and may be in use during the call.
     *
     * <p>The steering is an optimization without guarantees. Frames that arrive while such a link is opened or closed
     * may be delivered to any link of the address. Frames that a closed link has not yet polled are lost. Frames that
     * the network interface has coalesced (UDP GRO) are all delivered to the link that the first of them belongs to.
     * The polling thread must therefore be able to pass a frame on to another thread. A frame too short to have a queue
     * pair number is delivered to {@code first}.
     *
     * <p>Until the last link on the port is closed, {@link #openUdp} and other processes cannot bind the port. {@code
     * first} should be closed last, since no other link receives frames outside all ranges. On Linux, another process
     * of the same user can bind the port with SO_REUSEPORT, as {@link #openBeside} does.
     *
     * @param first a link that {@link #openUdp} or this method of some link set of this process has opened
     * @param fromNumber the first queue pair number of the range, 0 to 0xffffff
     * @param toNumber the last queue pair number, {@code fromNumber} to 0xffffff
     * @return the link, or null if the system or this kind of link set does not support steering, or {@code first} is
     *     of another kind, receives a multicast group or is decorated; {@code first} is then unaffected
     * @throws IOException if {@code first} is closed, or this set cannot open another socket
     * @throws IllegalArgumentException if the range is not valid, or overlaps the range of another link of the port
     */
    default @Nullable Link openSteered(Link first, int fromNumber, int toNumber) throws IOException {
        QueuePairRanges.require(fromNumber, toNumber);
        return null;
    }

    /**
     * Opens a link that receives the frames sent to a multicast group that arrive on one network interface. This host
     * becomes a member of the group on that interface. The kernel announces the membership by IGMP or MLD, and ends it
     * when the link is closed or the process exits. Any number of links and processes may receive the same group. Each
     * receives every frame, including those that this host sends. The link of a unicast address receives none of them.
     *
     * <p>Such a link only receives: frames sent through it are counted as failed. Frames to a group are sent through the link of
     * a unicast address. They are sent on the interface of that address, with a hop limit of 64.
     *
     * <p>The {@code nio} link set cannot determine on which interface a frame to an IPv6 group of wider than link-local
     * scope has arrived. If the host is a member of the same group on several interfaces, such a link receives from all
     * of them.
     *
     * @param group IPv4 or IPv6 multicast address
     * @param port UDP port
     * @param local an address of the interface, of the group's family
     * @throws java.net.BindException if the port is bound by a socket that does not share it
     * @throws IOException if the kernel does not allow it
     * @throws IllegalArgumentException if {@code group} is not a multicast address or the families differ
     */
    Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException;

    /**
     * Listens on a Unix-domain socket for other processes of this user and host. A socket file left behind by a process
     * that has exited is replaced. Processes of other users are rejected if the system reports the user of a peer
     * (SO_PEERCRED), as Linux does.
     *
     * @throws IOException if the socket cannot be opened
     */
    LocalListener listenLocal(Path socket) throws IOException;

    /**
     * Connects to the Unix-domain socket of another process of this host.
     *
     * @throws IOException if no process listens there, or a process of another user does
     */
    LocalChannel connectLocal(Path socket) throws IOException;

    /**
     * Listens on a Unix-domain socket for rings of other processes of this user and host.
     *
     * @param copiesAll true if frames of the rings must not be {@linkplain io.rdma4j.wire.Frame#isSplit split}
     * @return the listener, or null if this system or kind of link set has no rings
     * @throws IOException if the socket cannot be opened
     */
    default @Nullable RingListener listenForRings(Path socket, boolean copiesAll) throws IOException {
        return null;
    }

    /**
     * Creates a ring in shared memory and hands it over to the process that listens on a socket. Frames can be written
     * immediately, before that process has accepted the ring.
     *
     * @param sourceHigh the address of this process that the frames come from, upper half
     * @param sourceLow lower half
     * @return the ring, or null if this system or kind of link set has no rings
     * @throws IOException if no process listens there, a process of another user does, or there is no memory
     */
    default @Nullable SendRing connectRing(Path socket, long sourceHigh, long sourceLow) throws IOException {
        return null;
    }

    /**
     * Blocks until a link, channel or ring of this set has input, {@link #wakeup} is called or the timeout elapses. May
     * return spuriously.
     *
     * @param timeoutNanos maximum time to block, in nanoseconds; 0 does not block, {@link Long#MAX_VALUE} blocks indefinitely
     * @return true if local channels or listeners may have input; false if only UDP links can have input
     */
    boolean await(long timeoutNanos);

    /**
     * Wakes the thread in {@link #await}, or lets the next call return immediately. Repeated calls before that are
     * cheap. If there is no memory for that, the next call wakes the thread. Any thread.
     */
    void wakeup();

    /** Closes the set and everything it has opened. */
    @Override
    void close();

    /** A Unix-domain socket that other processes of this host connect to. */
    interface LocalListener extends AutoCloseable {
        /**
         * Accepts a connection without waiting, or returns null if there is none. While this process lacks descriptors, connections
         * are refused; the wait for others still blocks.
         */
        @Nullable
        LocalChannel accept();

        /**
         * Sets the message that a process receives before its channel ends if this process has no descriptor for it.
         *
         * @param message from position to limit; the position does not change
         */
        default void refuseWith(ByteBuffer message) {}

        /** Closes the socket and removes its file. */
        @Override
        void close();
    }
}
