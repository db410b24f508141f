package io.rdma4j.tools.rping;

import io.rdma4j.tools.ToolReport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What a run of rping is to do.
 *
 * @param server whether this is the server
 * @param persistent {@code -P}: the server serves any number of clients until it is killed
 * @param address {@code -a} and {@code -p}: where the server listens, or the client connects to
 * @param source {@code -I}: address that the client connects from, or null
 * @param count {@code -C}: pings to do; 0 is no limit
 * @param sizeBytes {@code -S}: size of the data; may be negative or beyond the documented range, as with C's tool, where a
 *     valid address behind a wrong size makes it forget the error
 * @param verbose {@code -v}: print the data
 * @param validate {@code -V}: the client compares what came back
 * @param debug {@code -d}: print every step
 * @param ownQueuePair {@code -q}: make and change the queue pair without the connection manager
 */
record RpingOptions(
        boolean server,
        boolean persistent,
        InetSocketAddress address,
        @Nullable InetAddress source,
        int count,
        int sizeBytes,
        boolean verbose,
        boolean validate,
        boolean debug,
        boolean ownQueuePair) {
    /** Port unless {@code -p} says otherwise. */
    static final int DEFAULT_PORT = 7174;

    /** Size of the data unless {@code -S} says otherwise. */
    static final int DEFAULT_SIZE_BYTES = 64;

    /** Smallest size that {@code -S} takes: the text in front of the data, and a number. */
    static final int MINIMUM_SIZE_BYTES = 23;

    /** Largest size that {@code -S} takes is one less than this. */
    static final int SIZE_LIMIT_BYTES = 64 * 1024;

    /** Tells the parameters to programs. */
    void tell(ToolReport report) {
        report.parameter("role", server ? "server" : "client")
                .parameter("address", address.getAddress().getHostAddress())
                .parameter("port", address.getPort())
                .parameter("source", source == null ? null : source.getHostAddress())
                .parameter("count", count)
                .parameter("sizeBytes", sizeBytes)
                .parameter("validate", validate)
                .parameter("persistent", persistent)
                .parameter("ownQueuePair", ownQueuePair);
    }
}
