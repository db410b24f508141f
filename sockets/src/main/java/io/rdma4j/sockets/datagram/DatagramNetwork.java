package io.rdma4j.sockets.datagram;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** What a datagram socket needs of the world around it. */
public interface DatagramNetwork {
    /**
     * The local end that leads to a peer: that of the bound address, or of the address that routing chooses.
     *
     * @param wanted whether the application asks; then a failure is an exception of the network's own
     * @return null if there is none and nobody wants it
     */
    @Nullable
    LocalEnd localEnd(DatagramAddress peer, boolean wanted);

    /** The way from a local end to a peer. */
    DatagramPath path(LocalEnd from, DatagramAddress peer);

    /**
     * Sends on the UDP socket that goes with this one; what does not go at once is lost.
     *
     * @param message from position to limit; valid during the call
     * @return whether it went
     */
    boolean sendCompanion(ByteBuffer message, DatagramAddress peer);

    /** Passes messages that wait at the UDP socket to {@link DatagramProtocol#onCompanion}, and does not wait for more. */
    void readCompanion();
}
