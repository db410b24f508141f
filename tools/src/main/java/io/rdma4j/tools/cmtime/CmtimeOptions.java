package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.ToolReport;

/**
 * What a run of today's form is to do.
 *
 * @param source {@code -b}, or an address of the interface {@code -B}
 * @param controller {@code -C}: where the instances meet, as typed
 * @param port {@code -p}: the port there, as typed
 * @param connections {@code -c}: of each client with each server
 * @param listens {@code -L}: whether to be a server
 * @param simulates {@code -m}: whether there are no queue pairs, only their time
 * @param delayMicros {@code -m}: what each of their calls is to take
 * @param threads {@code -n}
 * @param peers {@code -P}: instances
 * @param firstQueuePair {@code -q}: first number of a queue pair that does not exist
 * @param retries {@code -r}
 * @param sockets {@code -S}: whether TCP is timed instead
 * @param timeoutMillis {@code -t}
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

    /** Tells the parameters to programs. */
    void tell(ToolReport report) {
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
