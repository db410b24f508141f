package io.rdma4j.programs.peer;

/** A client of a program. Not thread safe. */
interface PeerClient {
    /**
     * Performs one operation and checks what it returned.
     *
     * @throws IllegalStateException if the result is wrong
     * @throws Exception if the server does not reply
     */
    void exchange() throws Exception;
}
