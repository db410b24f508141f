package io.rdma4j.programs;

import org.jspecify.annotations.Nullable;

/**
 * The result of one program over one transport.
 *
 * @param program its name
 * @param transport the transport
 * @param version its version
 * @param operationsPerSecond the rate of one client
 * @param tcpConnections the TCP connections of both processes while the client was connected
 * @param idleProcessors the processors that both processes use while they are connected and idle
 * @param servesAfterKilledClient true if a second client was served after the first one was killed
 * @param failureMillis the time from the end of the killed server until the client's exchange failed
 * @param failure the exception of that exchange
 * @param problem the reason of a failure, or null
 */
record Outcome(
        String program,
        Transport transport,
        String version,
        double operationsPerSecond,
        int tcpConnections,
        double idleProcessors,
        boolean servesAfterKilledClient,
        long failureMillis,
        String failure,
        @Nullable String problem) {
    /** Returns the outcome of a program that could not be run to its end. */
    static Outcome problem(Program program, Transport transport, String problem) {
        return new Outcome(program.name(), transport, program.version(), 0, 0, 0, false, 0, "", problem);
    }

    /** Returns the problem if there is one, or a use of TCP where RDMA was to be used. */
    @Nullable
    String whatFailed() {
        if (problem != null) {
            return problem;
        }
        return transport == Transport.RDMA && tcpConnections > 0 ? tcpConnections + " connections used TCP" : null;
    }
}
