package io.rdma4j.tools.sockets;

import io.rdma4j.tools.ToolReport;
import org.jspecify.annotations.Nullable;

/**
 * What udpong is asked for.
 *
 * @param server {@code -s}: where the server is, as typed; null to be the server
 * @param bind {@code -b}: the local address as typed, or null
 * @param bufferBytes {@code -B}: size of send and receive buffers; 0 for that of the tool
 * @param custom whether {@code -C} or {@code -S} asks for one test instead of the series
 * @param count {@code -C}: datagrams of that test
 * @param sizeBytes {@code -S}: bytes of each
 * @param port {@code -p}: the server's port as typed
 * @param usesUdp {@code -T s}: over UDP
 * @param isAsync {@code -T a}: wait for readiness before every call
 * @param isBlocking {@code -T b}: calls that block
 * @param isEcho {@code -T e}: the server sends every datagram back
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
    void tell(ToolReport report) {
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
