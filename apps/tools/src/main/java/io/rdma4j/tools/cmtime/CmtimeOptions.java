package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.ToolReport;
import java.net.InetSocketAddress;

/**
 * The options of a run of the mesh form.
 *
 * @param source {@code -b}, or an address of the interface {@code -B}
 * @param controller {@code -C}: the address at which the instances meet, as typed
 * @param port {@code -p}: the port at that address, as typed
 * @param connections {@code -c}: the number of connections of each client with each server
 * @param listens {@code -L}: true for a server
 * @param simulates {@code -m}: true to simulate queue pairs by delays
 * @param delayMicros {@code -m}: the simulated duration of each call on a queue pair
 * @param threads {@code -n}: the number of worker threads
 * @param peers {@code -P}: the number of instances
 * @param firstQueuePair {@code -q}: the first number of a simulated queue pair
 * @param retries {@code -r}: the number of retries
 * @param sockets {@code -S}: true to time TCP connections instead
 * @param timeoutMillis {@code -t}: the timeout of address and route resolution
 */
record CmtimeOptions(
        String source,
        String controller,
        String port,
        int connections,
        boolean listens,
        boolean simulates,
        int delayMicros,
        int threads,
        int peers,
        int firstQueuePair,
        int retries,
        boolean sockets,
        int timeoutMillis) {

    /**
     * Returns these options for one of the two instances of a warm-up.
     *
     * @param meeting the address of both, and the port at which they meet
     * @param maxConnections the maximum number of connections
     */
    CmtimeOptions forWarmUp(InetSocketAddress meeting, boolean isServer, int maxConnections) {
        return new CmtimeOptions(
                meeting.getHostString(),
                meeting.getHostString(),
                String.valueOf(meeting.getPort()),
                Math.min(connections, maxConnections),
                isServer,
                simulates,
                delayMicros,
                threads,
                2,
                firstQueuePair,
                retries,
                sockets,
                timeoutMillis);
    }

    /** Adds the parameters to a report. */
    void addTo(ToolReport report) {
        report.parameter("form", "mesh")
                .parameter("role", listens ? "server" : "client")
                .parameter("source", source)
                .parameter("controller", controller)
                .parameter("port", port)
                .parameter("connections", connections)
                .parameter("simulatedDelayMicros", simulates ? delayMicros : null)
                .parameter("threads", threads)
                .parameter("peers", peers)
                .parameter("firstQueuePair", firstQueuePair)
                .parameter("retries", retries)
                .parameter("sockets", sockets)
                .parameter("timeoutMillis", timeoutMillis);
    }
}
