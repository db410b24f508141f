package io.rdma4j.programs.peer;

/** A program with a server and a client, which run in two processes. */
interface Peer {
    /** Connects a client to the server at {@code port} of 127.0.0.1. */
    PeerClient connect(int port) throws Exception;
}
