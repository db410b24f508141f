package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * A run of rstream or riostream. It has either one connection with a single test, or two connections with a series of
 * sizes: one to measure latencies, the other to measure bandwidths.
 */
abstract class StreamRun {
    /** The exit status of a failure, C's -1. */
    static final int FAILED = -1;

    private static final int DEFAULT_BUFFER_BYTES = 1 << 19;
    private static final int SYNC_BYTES = 16;

    /** The number of packets of a test in the shortest round of a warm-up. */
    private static final long PACKETS = 25;

    /** The events that C's poll returns for a refused TCP connection. */
    private static final int REFUSED = PollEvents.ERROR | PollEvents.HANG_UP;

    /** The interval at which a non-blocking server polls for a connection. */
    private static final Duration ACCEPT_WAIT = Duration.ofMillis(100);

    /** The maximum time that the server waits for the client to close the connection first. */
    private static final Duration CLIENT_CLOSE_WAIT = Duration.ofSeconds(2);

    /** The number of unsuccessful calls after which the thread yields the processor between calls. */
    private static final int MAX_IDLE_CALLS = 5000;

    final StreamToolOptions options;
    private final String tool;
    final ToolEnvironment environment;
    final MessageReport report;
    private final Set<MessageFlag> flags;
    private final List<Map<String, @Nullable Object>> rows = new CopyOnWriteArrayList<>();
    private @Nullable String allocationError;
    private int idleCalls;
    private WarmUp warmUp = WarmUp.NONE;

    /** The approximate maximum number of packets of a test. Only a warm-up limits it. */
    private long packets = Long.MAX_VALUE;

    /** The purpose of a connection. */
    enum Phase {
        /** A single test of any kind. */
        MIXED,
        /** Latency tests: small messages are sent inline. */
        LATENCY,
        /** Bandwidth tests: no message is sent inline. */
        BANDWIDTH
    }

    /** A call on a socket. */
    interface Call<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /** A call on a socket without a result. */
    interface Action {
        void run() throws IOException;
    }

    /** Creates a run. */
    StreamRun(String tool, StreamToolOptions options, ToolEnvironment environment) {
        this.tool = tool;
        this.options = options;
        this.environment = environment;
        report = new MessageReport(environment, tool);
        flags = options.isBlocking() ? EnumSet.of(MessageFlag.WAIT_ALL) : EnumSet.of(MessageFlag.DONT_WAIT);
    }

    /** Shortens the tests for a warm-up. */
    final void shorten(int work) {
        packets = PACKETS * work;
    }

    /** Warms up, unless this run is part of a warm-up, runs the tests and returns the exit status. */
    final int run(WarmUp.Round round) {
        warmUp = WarmUp.before(tool, options.isServer(), round, environment, options.server(), options.bind());
        try {
            return run();
        } finally {
            warmUp.close();
        }
    }

    /** Runs the tests and returns the exit status. */
    final int run() {
        Runnable atInterrupt = report::silence;
        environment.onInterrupt(atInterrupt);
        options.report(environment.report());
        environment.report().result("rows", rows);
        int status = 0;
        try {
            if (allocationError != null || (options.custom() && options.sizeBytes() < 0)) {
                report.errorLine("malloc: " + Errno.ENOMEM.text());
                report.explain(Objects.requireNonNullElse(allocationError, ""));
                throw new ToolFailure(FAILED);
            }
            exchange();
        } catch (ToolFailure failure) {
            status = failure.status();
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
        return status;
    }

    private void exchange() throws ToolFailure {
        TestSocket listener = options.isServer() ? listen() : null;
        try {
            report.line(TransferFigures.HEADER);
            if (options.custom()) {
                connection(listener, Phase.MIXED);
            } else {
                connection(listener, Phase.LATENCY);
                connection(listener, Phase.BANDWIDTH);
            }
        } finally {
            if (listener != null) {
                closeQuietly(listener);
            }
        }
    }

    /** Establishes a connection and runs its tests. */
    void connection(@Nullable TestSocket listener, Phase phase) throws ToolFailure {
        TestSocket socket = listener == null ? connect(phase) : accept(listener, phase);
        try {
            test(socket, phase);
        } finally {
            end(socket);
        }
    }

    /** Shuts down and closes a connection. */
    static void end(TestSocket socket) {
        try {
            socket.shutdown();
        } catch (IOException closed) {
            // The peer has closed the connection first.
        }
        closeQuietly(socket);
    }

    /** Returns the tests of a connection. */
    final List<StreamTest> testsOf(Phase phase) {
        List<StreamTest> tests =
                phase == Phase.MIXED ? List.of(options.customTest()) : options.series(phase == Phase.LATENCY);
        return packets == Long.MAX_VALUE
                ? tests
                : tests.stream().map(test -> test.shortened(packets)).toList();
    }

    /** Runs the tests of a connection and reports each one when it is complete. */
    final void test(TestSocket socket, Phase phase) throws ToolFailure {
        for (StreamTest test : testsOf(phase)) {
            onMeasured(test, measure(socket, test));
        }
        if (options.isServer()) {
            awaitClientClose(socket);
        }
    }

    /**
     * Waits a limited time for the client to close the connection. The server sends last, and a polling C client
     * discards its unread data when the server shuts down.
     */
    private static void awaitClientClose(TestSocket socket) {
        try {
            socket.await(PollEvents.IN, CLIENT_CLOSE_WAIT);
        } catch (IOException closed) {
            // The client has closed the connection.
        }
    }

    /** Reports the duration of a test. */
    void onMeasured(StreamTest test, long micros) {
        report.line(test.row(micros));
        rows.add(test.report(micros));
    }

    /** Runs a test and returns its duration in microseconds. */
    abstract long measure(TestSocket socket, StreamTest test) throws ToolFailure;

    // ---- sockets

    /** Opens a socket for an address. */
    abstract TestSocket open(InetAddress address, boolean passive) throws IOException;

    /** Sets the options that only this tool has. */
    void setToolOptions(TestSocket socket) {}

    /** Returns whether {@code -b} also applies to clients. */
    boolean bindsClients() {
        return true;
    }

    private TestSocket listen() throws ToolFailure {
        InetSocketAddress local = lookUp("getaddrinfo: ", options.bind(), true);
        TestSocket socket = open("rsocket failed", local.getAddress(), true);
        try {
            call("rsetsockopt SO_REUSEADDR", () -> socket.setOption(StandardSocketOptions.SO_REUSEADDR, true));
            call("rbind", () -> socket.bind(local));
            setSizes(socket); // later connections inherit these options
            call("rlisten", () -> socket.listen(1));
            return socket;
        } catch (ToolFailure failure) {
            closeQuietly(socket);
            throw failure;
        }
    }

    private TestSocket open(String name, InetAddress address, boolean passive) throws ToolFailure {
        try {
            return open(address, passive);
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                report.errorLine("No RDMA devices were detected");
            } else {
                report.failure(name, e);
            }
            throw new ToolFailure(FAILED);
        } catch (IOException e) {
            throw failure(name, e);
        }
    }

    /** Waits for a client. Sets the options of the listener, which its connections inherit, and of the connection. */
    private TestSocket accept(TestSocket listener, Phase phase) throws ToolFailure {
        TestSocket socket = acceptOnly(listener, phase);
        setOptions(socket, phase);
        return socket;
    }

    /** Waits for a client. Sets the options only on the listener. */
    final TestSocket acceptOnly(TestSocket listener, Phase phase) throws ToolFailure {
        setOptions(listener, phase);
        while (true) {
            if (!options.isBlocking() || options.has(Test.ASYNC)) {
                Duration timeout = options.isBlocking() ? null : ACCEPT_WAIT;
                get("rpoll", () -> listener.await(PollEvents.IN, timeout));
            }
            TestSocket socket = get("raccept", listener::accept);
            if (socket != null) {
                warmUp.close();
                return socket;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new ToolFailure(FAILED); // the warm-up has ended, and its client did not connect
            }
        }
    }

    private TestSocket connect(Phase phase) throws ToolFailure {
        InetSocketAddress remote = lookUp("getaddrinfo: ", options.server(), false);
        // C looks up this address with the server's port, so the client's port is the same.
        InetSocketAddress local = options.bind() == null || !bindsClients()
                ? null
                : lookUp("getaddrinfo src_addr: ", options.bind(), true);
        TestSocket socket = open("rsocket failed", remote.getAddress(), false);
        try {
            setOptions(socket, phase);
            if (local != null) {
                call("rbind", () -> socket.bind(local));
            }
            if (!get("rconnect", () -> socket.connect(remote))) {
                finishConnect(socket);
            }
            return socket;
        } catch (ToolFailure failure) {
            closeQuietly(socket);
            throw failure;
        }
    }

    /** Waits for the connection. As in C, a failure prints an unrelated error and exits with the events of poll. */
    private void finishConnect(TestSocket socket) throws ToolFailure {
        int ready = get("rpoll", () -> socket.await(PollEvents.OUT, null));
        try {
            socket.finishConnect();
        } catch (IOException e) {
            report.errorLine("rpoll: Operation now in progress");
            report.explain(Failures.explanation("rconnect", e));
            int events = ready & REFUSED;
            throw new ToolFailure(events == 0 ? REFUSED : events);
        }
    }

    /** Sets the options of a connection or listener for a phase. */
    final void setOptions(TestSocket socket, Phase phase) throws ToolFailure {
        setSizes(socket);
        trySetOption(socket, StandardSocketOptions.TCP_NODELAY, true);
        call("fcntl", () -> socket.configureBlocking(options.isBlocking()));
        if (phase != Phase.MIXED) {
            trySetOption(socket, RdmaSocketOptions.RDMA_INLINE, phase == Phase.LATENCY ? options.inlineBytes() : 0);
        }
        if (options.keepAliveSeconds() != 0) {
            keepAlive(socket);
        }
    }

    private void setSizes(TestSocket socket) {
        int bufferBytes = options.bufferBytes() == 0 ? DEFAULT_BUFFER_BYTES : options.bufferBytes();
        trySetOption(socket, StandardSocketOptions.SO_SNDBUF, bufferBytes);
        trySetOption(socket, StandardSocketOptions.SO_RCVBUF, bufferBytes);
        setToolOptions(socket);
    }

    /** Sets an option and ignores failures, because C ignores the result. */
    static <T> void trySetOption(TestSocket socket, SocketOption<T> option, T value) {
        try {
            socket.setOption(option, value);
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException ignored) {
            // The socket keeps its value.
        }
    }

    private void keepAlive(TestSocket socket) {
        try {
            socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        } catch (IOException e) {
            report.errorLine("rsetsockopt SO_KEEPALIVE: " + Failures.text(e));
            return;
        }
        try {
            socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, options.keepAliveSeconds());
        } catch (IOException | IllegalArgumentException e) {
            report.errorLine("rsetsockopt TCP_KEEPIDLE: " + Errno.EINVAL.text());
        }
        try {
            report.line("Keepalive: " + (socket.option(StandardSocketOptions.SO_KEEPALIVE) ? "ON" : "OFF"));
            report.line("  time: " + socket.option(ExtendedSocketOptions.TCP_KEEPIDLE));
        } catch (IOException e) {
            report.explain(Failures.explanation("rgetsockopt", e));
        }
    }

    private InetSocketAddress lookUp(String line, @Nullable String host, boolean passive) throws ToolFailure {
        try {
            if (options.usesResolver()) {
                return resolve(host, passive);
            }
            boolean numeric = options.format() == StreamToolOptions.Format.IP;
            InetAddress address = host == null ? anyIpv4() : HostLookup.first("getaddrinfo", host, null, numeric);
            return new InetSocketAddress(
                    address, ServiceLookup.port("getaddrinfo", options.port(), ServiceLookup.Protocol.TCP));
        } catch (AddressLookupException e) {
            report.line(line + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new ToolFailure(e.code());
        } catch (RdmaException e) {
            report.failure("rdma_getaddrinfo", e);
            throw new ToolFailure(FAILED);
        }
    }

    private static InetAddress anyIpv4() {
        return InetAddress.ofLiteral("0.0.0.0");
    }

    private InetSocketAddress resolve(@Nullable String host, boolean passive) {
        Set<AddressInformation.Flag> flagSet = EnumSet.noneOf(AddressInformation.Flag.class);
        if (passive) {
            flagSet.add(AddressInformation.Flag.PASSIVE);
        }
        if (options.format() == StreamToolOptions.Format.GID) {
            flagSet.add(AddressInformation.Flag.NUMERIC_HOST);
            flagSet.add(AddressInformation.Flag.FAMILY);
        }
        AddressInformation addresses = AddressInformation.lookUp(
                host, options.port(), new AddressInformation.Hints(flagSet, null, null, PortSpace.TCP, null, null));
        InetSocketAddress address = passive ? addresses.source() : addresses.destination();
        return address == null ? new InetSocketAddress(anyIpv4(), 0) : address;
    }

    // ---- transfers

    /**
     * Allocates a buffer for the largest test. If memory is exhausted, returns an empty one, and {@link #run} fails.
     */
    final ByteBuffer buffer() {
        int bytes = options.custom()
                ? Math.max(SYNC_BYTES, options.sizeBytes())
                : StreamTest.sizes(options.allSizes()).getLast();
        try {
            return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        } catch (OutOfMemoryError e) {
            allocationError = e.getMessage() + "; use a smaller -S";
            return ByteBuffer.allocateDirect(0);
        }
    }

    /** Returns the length in bytes of the message with which each side signals that it is ready. */
    static int syncBytes() {
        return SYNC_BYTES;
    }

    /** Compares the received bytes with the expected ones. */
    final void verify(StreamPattern expected, ByteBuffer received, int bytes) throws ToolFailure {
        long mismatch = expected.compare(received, bytes);
        if (mismatch >= 0) {
            report.line("data verification failed byte " + mismatch);
            throw new ToolFailure(FAILED);
        }
    }

    /** Sends the first bytes of a buffer. */
    final void sendAll(TestSocket socket, ByteBuffer buffer, int bytes) throws ToolFailure {
        buffer.position(0).limit(bytes);
        try {
            while (buffer.hasRemaining()) {
                awaitIfAsync(socket, PollEvents.OUT);
                pause(socket.send(buffer, flags));
            }
        } catch (IOException e) {
            throw failure("rsend", e);
        } finally {
            buffer.clear();
        }
    }

    /** Receives into the start of a buffer. */
    final void receiveAll(TestSocket socket, ByteBuffer buffer, int bytes) throws ToolFailure {
        buffer.position(0).limit(bytes);
        try {
            while (buffer.hasRemaining()) {
                awaitIfAsync(socket, PollEvents.IN);
                int count = socket.receive(buffer, flags);
                if (count < 0) {
                    throw closedEarly();
                }
                pause(count);
            }
        } catch (IOException e) {
            throw failure("rrecv", e);
        } finally {
            buffer.clear();
        }
    }

    /** Reports that the peer closed the connection before the end of the test. */
    final ToolFailure closedEarly() {
        report.explain("the peer closed the connection before the test was over. Use the same -I, -C, -S"
                + " and -T v on both sides; the peer's output may show the reason");
        return new ToolFailure(FAILED);
    }

    /**
     * Waits with {@code -T a} until the socket is ready. Errors are left to the following call, which reports them in
     * detail.
     */
    final void awaitIfAsync(TestSocket socket, int events) throws IOException {
        if (options.has(Test.ASYNC)) {
            Duration timeout = options.isBlocking() ? null : Duration.ZERO;
            while (socket.await(events, timeout) == 0) {
                pause(0);
            }
        }
    }

    /** Spins or yields between non-blocking calls. {@code count} is the result of the last call. */
    final void pause(int count) {
        if (count > 0) {
            idleCalls = 0;
        } else if (++idleCalls > MAX_IDLE_CALLS) {
            LockSupport.parkNanos(1);
        } else {
            Thread.onSpinWait();
        }
    }

    // ---- failures

    /** Runs an action. Reports a failure like C's {@code perror}. */
    final void call(String name, Action action) throws ToolFailure {
        this.<@Nullable Void>get(name, () -> {
            action.run();
            return null;
        });
    }

    /** Runs a call with a result, like {@link #call}. */
    final <T extends @Nullable Object> T get(String name, Call<T> call) throws ToolFailure {
        try {
            return call.run();
        } catch (IOException e) {
            throw failure(name, e);
        }
    }

    /** Reports which call failed, and why. */
    final ToolFailure failure(String name, IOException e) {
        report.errorLine(name + ": " + Failures.text(e));
        report.explain(Failures.explanation(name, e));
        return new ToolFailure(FAILED);
    }

    /** Closes a socket and ignores failures. */
    static void closeQuietly(TestSocket socket) {
        try {
            socket.close();
        } catch (IOException closed) {
            // Ignored: the connection is no longer needed.
        }
    }
}
