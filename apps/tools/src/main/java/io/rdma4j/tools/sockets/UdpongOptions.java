package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.ToolReport;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The options of udpong.
 *
 * @param server {@code -s}: the server's address as typed, or null to be the server
 * @param bind {@code -b}: the local address as typed, or null
 * @param bufferBytes {@code -B}: the size of send and receive buffers, 0 for the tool's default
 * @param custom true if {@code -C} or {@code -S} selects a single test instead of the series
 * @param count {@code -C}: the number of datagrams of the single test
 * @param sizeBytes {@code -S}: the size of a datagram in bytes
 * @param port {@code -p}: the server's port as typed
 * @param usesUdp {@code -T s}: true to use UDP
 * @param isAsync {@code -T a}: true to wait for readiness before every call
 * @param isBlocking {@code -T b}: true to use blocking calls
 * @param isEcho {@code -T e}: true if the server echoes every datagram
 */
record UdpongOptions(
        @Nullable String server,
        @Nullable String bind,
        int bufferBytes,
        boolean custom,
        int count,
        int sizeBytes,
        String port,
        boolean usesUdp,
        boolean isAsync,
        boolean isBlocking,
        boolean isEcho) {
    /** Returns the options of one side of a warm-up, which uses a separate address. */
    UdpongOptions forWarmUp(InetSocketAddress address, boolean isServer) {
        return new UdpongOptions(
                isServer ? null : address.getHostString(),
                address.getHostString(),
                bufferBytes,
                custom,
                count,
                sizeBytes,
                String.valueOf(address.getPort()),
                usesUdp,
                isAsync,
                isBlocking,
                isEcho);
    }

    void report(ToolReport report) {
        report.parameter("role", server == null ? "server" : "client")
                .parameter("server", server)
                .parameter("bind", bind)
                .parameter("port", port)
                .parameter("bufferBytes", bufferBytes)
                .parameter("udp", usesUdp)
                .parameter("async", isAsync)
                .parameter("blocking", isBlocking);
        if (server != null) {
            report.parameter("series", custom ? "custom" : "default");
        }
        if (server != null && custom) {
            report.parameter("count", count).parameter("sizeBytes", sizeBytes).parameter("echo", isEcho);
        }
    }
}
