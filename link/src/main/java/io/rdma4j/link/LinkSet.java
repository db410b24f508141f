package io.rdma4j.link;

import io.rdma4j.link.internal.QueuePairRanges;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Links that one thread can wait on together: the link room's factory and its selector in one.
 *
 * <p>One thread at a time may {@link #await}; one thread at a time may open, poll, send and close, also while another
 * waits: the waiting thread takes note of new and closed links. {@link #wakeup} may be called from any thread. An
 * interrupt does not end a wait for good: it may let {@link #await} return early once.
 */
public interface LinkSet extends AutoCloseable {
    /** Short name of the implementation, for messages: {@code nio} or {@code linux}. */
    String name();

    /**
     * Opens a UDP link on a local address.
     *
     * <p>Frames leave unfragmented, with IPv4 identification 0 (segmented sends: see
     * {@link LinkCapabilities#identificationCountsSegments}); the ICRC depends on it. Those to a multicast group leave by
     * the interface of {@code address}, for links of this host too ({@link #openMulticast}).
     *
     * @param address a local unicast address; an IPv6 link-local one carries its scope
     * @param port UDP port, or 0 for any free one
     * @throws java.net.BindException if the port is taken or the address is not local
     * @throws IOException if the link cannot be opened for another reason
     */
    Link openUdp(InetAddress address, int port) throws IOException;

    /**
     * Opens a further link on the address and UDP port of {@code first}, to which those frames come whose destination queue
     * pair number lies in a range; all others come to {@code first} still. So several threads, each with a link set of its
     * own, can serve one address. {@code first} may belong to another set and be in use there meanwhile.
     *
     * <p>The steering makes things faster and promises nothing: frames that arrive while such a link is opened or closed
     * may come to any link of the address, those that a closed link had not been polled for are lost, and frames that the
     * network interface has coalesced (UDP GRO) go together to where the first of them belongs. Whoever polls must be able
     * to pass a frame on. A frame too short to have a queue pair number comes to {@code first}.
     *
     * <p>The port stays refused to {@link #openUdp} and to all other processes as before, until the last link on it is
     * closed; close {@code first} last, since nobody else gets what is in nobody's range. On Linux another process of the
     * same user could join in, if it asks for that by SO_REUSEPORT; nothing here does.
     *
     * @param first a link that {@link #openUdp} or this method of some link set of this process has opened
     * @param fromNumber the first queue pair number of the range, 0 to 0xffffff
     * @param toNumber the last, not less than {@code fromNumber}, up to 0xffffff
     * @return the link, or null where that cannot be: the system or this kind of link set has no such thing, or {@code
     *     first} is of another kind, receives a group or is decorated; {@code first} works as before
     * @throws IOException if {@code first} is closed, or this set cannot open another socket
     * @throws IllegalArgumentException if that is no range, or has numbers of another link of that port
     */
    default @Nullable Link openBeside(Link first, int fromNumber, int toNumber) throws IOException {
        QueuePairRanges.require(fromNumber, toNumber);
        return null;
    }

    /**
     * Opens a link that receives what is sent to a multicast group and comes in by one network interface, and makes this
     * host a member of the group there: through the kernel, which tells the network by IGMP or MLD and, when the link is
     * closed or the process ends, takes it back. Any number of links and processes may receive the same group; each gets
     * every frame, also those that this host sends. The link of a unicast address gets none of them.
     *
     * <p>Such a link only receives: what is sent through it counts as failed. To send to a group use the link of a
     * unicast address: its frames leave by the interface of that address, with 64 hops to go.
     *
     * <p>The {@code nio} link set cannot tell by which interface a frame to an IPv6 group of wider scope than the link
     * came: if the host is a member of the same group on several interfaces, such a link receives from all of them.
     *
     * @param group IPv4 or IPv6 multicast address
     * @param port UDP port
     * @param local an address of the interface, of the group's family
     * @throws IOException if the kernel does not allow it; a {@link java.net.BindException} if the port is held by
     *     something that does not share it
     * @throws IllegalArgumentException if {@code group} is no multicast address or the families differ
     */
    Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException;

    /**
     * Listens on a Unix-domain socket for other processes of this user and host; a file left by a dead process is replaced.
     * Processes of other users are turned away where the system tells whose a process is (SO_PEERCRED), as Linux does.
     *
     * @throws IOException if the socket cannot be opened
     */
    LocalListener listenLocal(Path socket) throws IOException;

    /**
     * Connects to the Unix-domain socket of another process of this host.
     *
     * @throws IOException if nobody listens there, or a process of another user does
     */
    LocalChannel connectLocal(Path socket) throws IOException;

    /**
     * Blocks until a link or channel of this set has input, {@link #wakeup} is called or the time is over. May return
     * early without cause.
     *
     * @param timeoutNanos longest time to block; 0 does not block, {@link Long#MAX_VALUE} is for ever
     * @return whether channels of this host's processes, or a listener for them, may have input; false if only UDP links
     *     can have some
     */
    boolean await(long timeoutNanos);

    /** Ends a present or the next {@link #await}; cheap when called again before that. Any thread. */
    void wakeup();

    /** Closes the set with all that it opened. */
    @Override
    void close();

    /** A Unix-domain socket that other processes of this host connect to. */
    interface LocalListener extends AutoCloseable {
        /** Takes a process that has connected, or null; does not wait. */
        @Nullable
        LocalChannel accept();

        /** Closes the socket and removes its file. */
        @Override
        void close();
    }
}
