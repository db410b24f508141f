package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaSocketOptions;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
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
 * A run of rstream or riostream: two connections, one for the latencies of a series of sizes and one for the bandwidths; or
 * one connection with one test.
 */
abstract class StreamRun {
    /** Exit status and result of what failed, as C's -1. */
    static final int FAILED = -1;

    private static final int DEFAULT_BUFFER_BYTES = 1 << 19;
    private static final int SYNC_BYTES = 16;

    /** What C's poll tells of a TCP connection that was refused. */
    private static final int REFUSED = PollEvents.ERROR | PollEvents.HANG_UP;

    /** A server that does not block looks so often whether somebody comes. */
    private static final Duration GLANCE = Duration.ofMillis(100);

    /** A client that has all it was to get ends its connection within this, or the server does. */
    private static final Duration CLIENT_ENDS = Duration.ofSeconds(2);

    /** So often in vain, then the other threads of this machine may have the processor. */
    private static final int MOST_IDLE_CALLS = 5000;

    final StreamToolOptions options;
    final ToolEnvironment environment;
    final MessageReport report;
    private final Set<MessageFlag> flags;
    private final List<Map<String, @Nullable Object>> rows = new CopyOnWriteArrayList<>();
    private @Nullable String noMemory;
    private int idleCalls;

    /** What a connection is for. */
    enum Phase {
        /** One test of any kind. */
        MIXED,
        /** Latencies: small messages go inline. */
        LATENCY,
        /** Bandwidths: nothing goes inline. */
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

    /** Prepares a run. */
    StreamRun(String tool, StreamToolOptions options, ToolEnvironment environment) {
        this.options = options;
        this.environment = environment;
        report = new MessageReport(environment, tool);
        flags = options.isBlocking() ? EnumSet.of(MessageFlag.WAIT_ALL) : EnumSet.of(MessageFlag.DONT_WAIT);
    }

    /** Runs it all; the exit status. */
    final int run() {
        Runnable atInterrupt = report::silence;
        environment.onInterrupt(atInterrupt);
        options.tell(environment.report());
        environment.report().result("rows", rows);
        int status = 0;
        try {
            if (noMemory != null || (options.custom() && options.sizeBytes() < 0)) {
                report.errorLine("malloc: " + Errno.ENOMEM.text());
                report.explain(Objects.requireNonNullElse(noMemory, ""));
                throw new StreamFailure(FAILED);
            }
            exchange();
        } catch (StreamFailure failure) {
            status = failure.status();
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
        return status;
    }

    private void exchange() throws StreamFailure {
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

    /** One connection with its tests. */
    void connection(@Nullable TestSocket listener, Phase phase) throws StreamFailure {
        TestSocket socket = listener == null ? connect(phase) : accept(listener, phase);
        try {
            test(socket, phase);
        } finally {
            end(socket);
        }
    }

    /** Ends a connection. */
    static void end(TestSocket socket) {
        try {
            socket.shutdown();
        } catch (IOException gone) {
            // The peer was faster.
        }
        closeQuietly(socket);
    }

    /** The tests that a connection is for. */
    final List<StreamTest> testsOf(Phase phase) {
        return phase == Phase.MIXED ? List.of(options.customTest()) : options.series(phase == Phase.LATENCY);
    }

    /** Does the tests of a connection, and tells each when it is done. */
    final void test(TestSocket socket, Phase phase) throws StreamFailure {
        for (StreamTest test : testsOf(phase)) {
            onMeasured(test, measure(socket, test));
        }
        if (options.isServer()) {
            letClientEnd(socket);
        }
    }

    /**
     * Waits a little until the client ends the connection: the server sent last, and a C client that polls gives up what it
     * has not read yet as soon as it hears that the server is done.
     */
    private static void letClientEnd(TestSocket socket) {
        try {
            socket.await(PollEvents.IN, CLIENT_ENDS);
        } catch (IOException gone) {
            // It has ended.
        }
    }

    /** A test took so long: its row. */
    void onMeasured(StreamTest test, long micros) {
        report.line(test.row(micros));
        rows.add(test.report(micros));
    }

    /** Runs one test; how many microseconds it took. */
    abstract long measure(TestSocket socket, StreamTest test) throws StreamFailure;

    // ---- sockets

    /** Makes a socket for an address. */
    abstract TestSocket open(InetAddress address, boolean toListen) throws IOException;

    /** Sets what only this tool sets. */
    void setOwnOptions(TestSocket socket) {}

    /** Whether {@code -b} is for clients, too. */
    boolean bindsClients() {
        return true;
    }

    private TestSocket listen() throws StreamFailure {
        InetSocketAddress local = lookUp("getaddrinfo: ", options.bind(), true);
        TestSocket socket = open("rsocket failed", local.getAddress(), true);
        try {
            call("rsetsockopt SO_REUSEADDR", () -> socket.setOption(StandardSocketOptions.SO_REUSEADDR, true));
            call("rbind", () -> socket.bind(local));
            setSizes(socket); // a request that comes at once makes a connection with what is set now
            call("rlisten", () -> socket.listen(1));
            return socket;
        } catch (StreamFailure failure) {
            closeQuietly(socket);
            throw failure;
        }
    }

    private TestSocket open(String name, InetAddress address, boolean toListen) throws StreamFailure {
        try {
            return open(address, toListen);
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                report.errorLine("No RDMA devices were detected");
            } else {
                report.failure(name, e);
            }
            throw new StreamFailure(FAILED);
        } catch (IOException e) {
            throw failure(name, e);
        }
    }

    /** Waits for a client; the options go to the listener, whose connections inherit them, and to the connection. */
    private TestSocket accept(TestSocket listener, Phase phase) throws StreamFailure {
        TestSocket socket = acceptOnly(listener, phase);
        setOptions(socket, phase);
        return socket;
    }

    /** Waits for a client, whose connection has the options of the listener. */
    final TestSocket acceptOnly(TestSocket listener, Phase phase) throws StreamFailure {
        setOptions(listener, phase);
        while (true) {
            if (!options.isBlocking() || options.has(Test.ASYNC)) {
                Duration timeout = options.isBlocking() ? null : GLANCE;
                get("rpoll", () -> listener.await(PollEvents.IN, timeout));
            }
            TestSocket socket = get("raccept", listener::accept);
            if (socket != null) {
                return socket;
            }
        }
    }

    private TestSocket connect(Phase phase) throws StreamFailure {
        InetSocketAddress remote = lookUp("getaddrinfo: ", options.server(), false);
        // C looks this up with the server's port: the client's port is that too.
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
        } catch (StreamFailure failure) {
            closeQuietly(socket);
            throw failure;
        }
    }

    /** C asks poll, whose answer becomes the exit status, and then names an error that is not the reason. */
    private void finishConnect(TestSocket socket) throws StreamFailure {
        int ready = get("rpoll", () -> socket.await(PollEvents.OUT, null));
        try {
            socket.finishConnect();
        } catch (IOException e) {
            report.errorLine("rpoll: Operation now in progress");
            report.explain(Failures.explanation("rconnect", e));
            int told = ready & REFUSED;
            throw new StreamFailure(told == 0 ? REFUSED : told);
        }
    }

    /** Sets what a connection of a phase needs. */
    final void setOptions(TestSocket socket, Phase phase) throws StreamFailure {
        setSizes(socket);
        setIgnoring(socket, StandardSocketOptions.TCP_NODELAY, true);
        call("fcntl", () -> socket.configureBlocking(options.isBlocking()));
        if (phase != Phase.MIXED) {
            setIgnoring(socket, RdmaSocketOptions.RDMA_INLINE, phase == Phase.LATENCY ? options.inlineBytes() : 0);
        }
        if (options.keepAliveSeconds() != 0) {
            keepAlive(socket);
        }
    }

    private void setSizes(TestSocket socket) {
        int bufferBytes = options.bufferBytes() == 0 ? DEFAULT_BUFFER_BYTES : options.bufferBytes();
        setIgnoring(socket, StandardSocketOptions.SO_SNDBUF, bufferBytes);
        setIgnoring(socket, StandardSocketOptions.SO_RCVBUF, bufferBytes);
        setOwnOptions(socket);
    }

    /** Sets an option if the socket has it and still takes it: C does not look at the result. */
    static <T> void setIgnoring(TestSocket socket, SocketOption<T> option, T value) {
        try {
            socket.setOption(option, value);
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException ignored) {
            // Then the socket keeps what it has.
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

    private InetSocketAddress lookUp(String line, @Nullable String host, boolean passive) throws StreamFailure {
        try {
            if (options.usesResolver()) {
                return resolve(host, passive);
            }
            boolean numeric = options.format() == StreamToolOptions.Format.IP;
            InetAddress address = host == null ? anyIpv4() : HostLookup.first("getaddrinfo", host, null, numeric);
            return new InetSocketAddress(address, Failures.port(options.port()));
        } catch (AddressLookupException e) {
            report.line(line + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new StreamFailure(e.code());
        } catch (RdmaException e) {
            report.failure("rdma_getaddrinfo", e);
            throw new StreamFailure(FAILED);
        }
    }

    private static InetAddress anyIpv4() {
        return InetAddress.ofLiteral("0.0.0.0");
    }

    private InetSocketAddress resolve(@Nullable String host, boolean passive) {
        Set<AddressInformation.Flag> wanted = EnumSet.noneOf(AddressInformation.Flag.class);
        if (passive) {
            wanted.add(AddressInformation.Flag.PASSIVE);
        }
        if (options.format() == StreamToolOptions.Format.GID) {
            wanted.add(AddressInformation.Flag.NUMERIC_HOST);
            wanted.add(AddressInformation.Flag.FAMILY);
        }
        AddressInformation found = AddressInformation.lookUp(
                host, options.port(), new AddressInformation.Hints(wanted, null, null, PortSpace.TCP, null, null));
        InetSocketAddress address = passive ? found.source() : found.destination();
        return address == null ? new InetSocketAddress(anyIpv4(), 0) : address;
    }

    // ---- transfers

    /** A buffer for the largest test; an empty one if there is no memory for it, which ends {@link #run} at once. */
    final ByteBuffer buffer() {
        int bytes = options.custom() ? Math.max(SYNC_BYTES, options.sizeBytes()) : StreamTest.largestBytes();
        try {
            return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        } catch (OutOfMemoryError e) {
            noMemory = e.getMessage() + "; use a smaller -S";
            return ByteBuffer.allocateDirect(0);
        }
    }

    /** Bytes of the message by which each side hears that the other is ready. */
    static int syncBytes() {
        return SYNC_BYTES;
    }

    /** Compares what came with what must have come. */
    final void verify(StreamPattern expected, ByteBuffer came, int bytes) throws StreamFailure {
        long wrong = expected.compare(came, bytes);
        if (wrong >= 0) {
            report.line("data verification failed byte " + wrong);
            throw new StreamFailure(FAILED);
        }
    }

    /** Sends the beginning of a buffer. */
    final void sendAll(TestSocket socket, ByteBuffer buffer, int bytes) throws StreamFailure {
        buffer.position(0).limit(bytes);
        try {
            while (buffer.hasRemaining()) {
                awaitIfAsked(socket, PollEvents.OUT);
                pause(socket.send(buffer, flags));
            }
        } catch (IOException e) {
            throw failure("rsend", e);
        } finally {
            buffer.clear();
        }
    }

    /** Receives into the beginning of a buffer. */
    final void receiveAll(TestSocket socket, ByteBuffer buffer, int bytes) throws StreamFailure {
        buffer.position(0).limit(bytes);
        try {
            while (buffer.hasRemaining()) {
                awaitIfAsked(socket, PollEvents.IN);
                int count = socket.receive(buffer, flags);
                if (count < 0) {
                    throw ended();
                }
                pause(count);
            }
        } catch (IOException e) {
            throw failure("rrecv", e);
        } finally {
            buffer.clear();
        }
    }

    /** The peer is gone before its time. */
    final StreamFailure ended() {
        report.explain("the peer ended the connection before the test was over. Give both sides the same -I, -C, -S"
                + " and -T v; what the other one says may tell more");
        return new StreamFailure(FAILED);
    }

    /** Waits until the call can do something; a call that then fails tells why better than poll does. */
    final void awaitIfAsked(TestSocket socket, int events) throws IOException {
        if (options.has(Test.ASYNC)) {
            Duration timeout = options.isBlocking() ? null : Duration.ZERO;
            while (socket.await(events, timeout) == 0) {
                pause(0);
            }
        }
    }

    /** Between calls that do not block. */
    final void pause(int count) {
        if (count > 0) {
            idleCalls = 0;
        } else if (++idleCalls > MOST_IDLE_CALLS) {
            LockSupport.parkNanos(1);
        } else {
            Thread.onSpinWait();
        }
    }

    // ---- failures

    /** Does what C would explain with {@code perror}. */
    final void call(String name, Action action) throws StreamFailure {
        this.<@Nullable Void>get(name, () -> {
            action.run();
            return null;
        });
    }

    /** The same with a result. */
    final <T extends @Nullable Object> T get(String name, Call<T> call) throws StreamFailure {
        try {
            return call.run();
        } catch (IOException e) {
            throw failure(name, e);
        }
    }

    /** Tells what failed. */
    final StreamFailure failure(String name, IOException e) {
        report.errorLine(name + ": " + Failures.text(e));
        report.explain(Failures.explanation(name, e));
        return new StreamFailure(FAILED);
    }

    /** Closes a socket without a word. */
    static void closeQuietly(TestSocket socket) {
        try {
            socket.close();
        } catch (IOException gone) {
            // Nobody is there to be told.
        }
    }
}
