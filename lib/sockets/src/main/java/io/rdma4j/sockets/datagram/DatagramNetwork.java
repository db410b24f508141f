package io.rdma4j.sockets.datagram;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The operations of the environment that a datagram socket needs. */
public interface DatagramNetwork {
    /**
     * Returns the local end for sending to a peer: the end of the bound address, or of the address that routing
     * chooses.
     *
     * @param wanted true if the application sends; a failure then throws an exception of the implementation
     * @return null if there is no local end and {@code wanted} is false
     */
    @Nullable
    LocalEnd localEnd(DatagramAddress peer, boolean wanted);

    /** Returns the path from a local end to a peer. */
    DatagramPath path(LocalEnd from, DatagramAddress peer);

    /**
     * Sends a message from the companion UDP socket. A message that cannot be sent immediately is lost.
     *
     * @param message the bytes from position to limit; valid during the call
     * @return true if it was sent
     */
    boolean sendCompanion(ByteBuffer message, DatagramAddress peer);

    /** Passes pending messages of the UDP socket to {@link DatagramProtocol#onCompanion}, without blocking. */
    void readCompanion();
}
