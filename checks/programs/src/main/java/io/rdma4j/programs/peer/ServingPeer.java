package io.rdma4j.programs.peer;

import java.nio.file.Path;

/** A program whose server {@link PeerMain} starts. */
interface ServingPeer extends Peer {
    /**
     * Starts a server on the loopback address. When it returns, clients may connect; the server runs until the process
     * ends.
     *
     * @param port the port, free at the time of the call; the following port is free, too
     * @param folder an empty folder for the files of the server
     */
    void serve(int port, Path folder) throws Exception;
}
