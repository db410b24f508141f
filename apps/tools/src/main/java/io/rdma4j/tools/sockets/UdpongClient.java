package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaDatagramSocket;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The client of udpong, which logs in at the server and runs the tests. */
final class UdpongClient extends UdpongRun {
    /** The header of the table. */
    static final String HEADER = String.format(
            Locale.ROOT,
            "%-10s%-8s%-8s%-8s%8s %10s%13s",
            "name",
            "bytes",
            "xfers",
            "total",
            "time",
            "Gb/sec",
            "usec/xfer");

    private static final Duration CONTROL_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration ECHO_TIMEOUT = Duration.ofMillis(1);

    /** The number of datagrams of a test for each unit of work of a warm-up. */
    private static final int DATAGRAMS = 5;

    private final UdpongMessage message = new UdpongMessage();
    private final UdpongMessage response = new UdpongMessage();
    private final List<Map<String, @Nullable Object>> rows = new CopyOnWriteArrayList<>();
    private @Nullable DatagramTestSocket connected;
    private int client;
    private int sequence;
    private long repeated;

    /** The maximum number of datagrams of a test. Only a warm-up limits it. */
    private int mostDatagrams = Integer.MAX_VALUE;

    UdpongClient(UdpongOptions options, ToolEnvironment environment) {
        super(options, environment);
    }

    /** Shortens the tests for a warm-up. */
    void shorten(int work) {
        mostDatagrams = DATAGRAMS * work;
    }

    @Override
    void exchange() throws ToolFailure {
        environment.report().result("rows", rows);
        report.line(HEADER);
        InetSocketAddress remote = lookUp(Objects.requireNonNull(options.server()), true);
        requireSize(remote.getAddress());
        connect(remote);
        request(UdpongMessage.LOGIN, UdpongMessage.CONTROL_BYTES, CONTROL_TIMEOUT);
        client = response.client();
        if (options.custom()) {
            test(new DatagramTest("custom", options.sizeBytes(), options.count(), options.isEcho())
                    .shortened(mostDatagrams));
            return;
        }
        for (boolean latencies : new boolean[] {true, false}) {
            for (DatagramTest test : DatagramTest.series(latencies)) {
                test(test.shortened(mostDatagrams));
            }
        }
    }

    private void requireSize(InetAddress server) throws ToolFailure {
        int max = options.usesUdp() ? UdpongMessage.MAX_BYTES : RdmaDatagramSocket.maxBytes(server);
        if (options.sizeBytes() > max) {
            report.line("size must be at most " + max + " bytes");
            throw new ToolFailure(1);
        }
    }

    private void connect(InetSocketAddress remote) throws ToolFailure {
        DatagramTestSocket socket = open(remote.getAddress());
        if (options.bind() != null) {
            InetSocketAddress local = lookUp(options.bind(), false);
            try {
                socket.bind(local);
            } catch (IOException e) {
                throw failure("rbind", e);
            }
        }
        try {
            socket.connect(remote);
        } catch (IOException e) {
            throw failure("rconnect", e);
        }
        connected = socket;
    }

    private DatagramTestSocket socket() {
        return Objects.requireNonNull(connected, "connected first");
    }

    private void test(DatagramTest test) throws ToolFailure {
        repeated = 0;
        request(UdpongMessage.START, UdpongMessage.CONTROL_BYTES, CONTROL_TIMEOUT);
        long startNanos = System.nanoTime();
        for (int i = 0; i < test.count(); i++) {
            if (test.isEcho()) {
                request(UdpongMessage.ECHO, test.sizeBytes(), ECHO_TIMEOUT);
            } else {
                message.operation(UdpongMessage.DATA).client(client);
                sendToServer(test.sizeBytes());
            }
        }
        request(UdpongMessage.END, UdpongMessage.CONTROL_BYTES, ECHO_TIMEOUT);
        long micros = (System.nanoTime() - startNanos) / 1000;
        report.line(test.row(response.data(), micros));
        rows.add(test.report(response.data(), micros, repeated));
    }

    /** Sends a request and retransmits it with exponential back-off until the response arrives. */
    private void request(int operation, int bytes, Duration firstTimeout) throws ToolFailure {
        message.operation(operation).client(client).sequence(sequence);
        ReceiveTimeout timeout = new ReceiveTimeout();
        long timeoutNanos = firstTimeout.toNanos();
        sendToServer(bytes);
        while (!receiveResponse(operation, timeoutNanos)) {
            if (timeout.isExpired()) {
                report.explain("no response from " + options.server() + " for " + timeout.seconds()
                        + " seconds. Is a udpong server running there on port " + options.port()
                        + ", and does the firewall pass UDP to that port and to 4791?");
                throw new ToolFailure(FAILED);
            }
            repeated++;
            timeoutNanos = Math.min(2 * timeoutNanos, CONTROL_TIMEOUT.toNanos());
            sendToServer(bytes);
        }
        sequence = sequence + 1 & 0xff;
    }

    private void sendToServer(int bytes) throws ToolFailure {
        try {
            send(socket(), message, bytes, null);
        } catch (IOException e) {
            throw failure("rsend", e);
        }
    }

    private boolean receiveResponse(int operation, long timeoutNanos) throws ToolFailure {
        long deadline = System.nanoTime() + timeoutNanos;
        try {
            for (long remaining = timeoutNanos; remaining > 0; remaining = deadline - System.nanoTime()) {
                if (socket().receive(response.toReceive()) == null) {
                    socket().await(PollEvents.IN, Duration.ofNanos(remaining));
                } else if (response.hasHeader()
                        && response.operation() == operation
                        && response.sequence() == sequence) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw failure("rrecv", e);
        }
    }
}
