package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaDatagramSocket;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.messages.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The client of udpong: logs in, and runs its tests. */
final class UdpongClient extends UdpongRun {
    /** The head of the table. */
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

    private final UdpongMessage message = new UdpongMessage();
    private final UdpongMessage answer = new UdpongMessage();
    private final List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    private @Nullable DatagramTestSocket connected;
    private int client;
    private int sequence;
    private long repeated;

    UdpongClient(UdpongOptions options, ToolEnvironment environment) {
        super(options, environment);
    }

    @Override
    void exchange() throws StreamFailure {
        environment.report().result("rows", rows);
        report.line(HEADER);
        InetSocketAddress remote = lookUp(Objects.requireNonNull(options.server()), true);
        requireSize(remote.getAddress());
        connect(remote);
        request(UdpongMessage.LOGIN, UdpongMessage.CONTROL_BYTES, CONTROL_TIMEOUT);
        client = answer.client();
        if (options.custom()) {
            test(new DatagramTest("custom", options.sizeBytes(), options.count(), options.isEcho()));
            return;
        }
        for (boolean latencies : new boolean[] {true, false}) {
            for (DatagramTest test : DatagramTest.series(latencies)) {
                test(test);
            }
        }
    }

    private void requireSize(InetAddress server) throws StreamFailure {
        int most = options.usesUdp() ? UdpongMessage.MOST_BYTES : RdmaDatagramSocket.mostBytes(server);
        if (options.sizeBytes() > most) {
            report.line("size must be at most " + most + " bytes");
            throw new StreamFailure(1);
        }
    }

    private void connect(InetSocketAddress remote) throws StreamFailure {
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

    private void test(DatagramTest test) throws StreamFailure {
        repeated = 0;
        request(UdpongMessage.START, UdpongMessage.CONTROL_BYTES, CONTROL_TIMEOUT);
        long begin = System.nanoTime();
        for (int i = 0; i < test.count(); i++) {
            if (test.isEcho()) {
                request(UdpongMessage.ECHO, test.sizeBytes(), ECHO_TIMEOUT);
            } else {
                message.operation(UdpongMessage.DATA).client(client);
                sendToServer(test.sizeBytes());
            }
        }
        request(UdpongMessage.END, UdpongMessage.CONTROL_BYTES, ECHO_TIMEOUT);
        long micros = (System.nanoTime() - begin) / 1000;
        report.line(test.row(answer.data(), micros));
        rows.add(test.report(answer.data(), micros, repeated));
    }

    /** Sends a request again and again until its answer comes: after the time-out, then after twice that, and so on. */
    private void request(int operation, int bytes, Duration timeout) throws StreamFailure {
        message.operation(operation).client(client).sequence(sequence);
        Patience patience = new Patience();
        long timeoutNanos = timeout.toNanos();
        sendToServer(bytes);
        while (!receiveAnswer(operation, timeoutNanos)) {
            if (patience.isOver()) {
                report.explain("no answer from " + options.server() + " for " + patience.seconds()
                        + " seconds. Does a udpong server run there, on port " + options.port()
                        + ", and does a firewall let UDP through to that port and to 4791?");
                throw new StreamFailure(FAILED);
            }
            repeated++;
            timeoutNanos = Math.min(2 * timeoutNanos, CONTROL_TIMEOUT.toNanos());
            sendToServer(bytes);
        }
        sequence = sequence + 1 & 0xff;
    }

    private void sendToServer(int bytes) throws StreamFailure {
        try {
            send(socket(), message, bytes, null);
        } catch (IOException e) {
            throw failure("rsend", e);
        }
    }

    private boolean receiveAnswer(int operation, long timeoutNanos) throws StreamFailure {
        long deadline = System.nanoTime() + timeoutNanos;
        try {
            for (long left = timeoutNanos; left > 0; left = deadline - System.nanoTime()) {
                if (socket().receive(answer.toReceive()) == null) {
                    socket().await(PollEvents.IN, Duration.ofNanos(left));
                } else if (answer.hasHeader() && answer.operation() == operation && answer.sequence() == sequence) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw failure("rrecv", e);
        }
    }
}
