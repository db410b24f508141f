package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** A run of udpong, as server or client. */
abstract class UdpongRun {
    /** Exit status of what failed, as C's -1. */
    static final int FAILED = -1;

    private static final int DEFAULT_BUFFER_BYTES = 1 << 19;

    final UdpongOptions options;
    final ToolEnvironment environment;
    final MessageReport report;
    private volatile @Nullable DatagramTestSocket socket;
    private volatile boolean interrupted;

    UdpongRun(UdpongOptions options, ToolEnvironment environment) {
        this.options = options;
        this.environment = environment;
        report = new MessageReport(environment, "udpong");
    }

    /** Runs it all; the exit status. */
    final int run() {
        Runnable atInterrupt = this::interrupt;
        environment.onInterrupt(atInterrupt);
        options.tell(environment.report());
        try {
            exchange();
            return 0;
        } catch (StreamFailure failure) {
            return interrupted ? 0 : failure.status();
        } finally {
            environment.removeOnInterrupt(atInterrupt);
            close();
        }
    }

    private void interrupt() {
        interrupted = true;
        report.silence();
        close();
    }

    private void close() {
        DatagramTestSocket open = socket;
        if (open != null) {
            open.close();
        }
    }

    /** What server or client does. */
    abstract void exchange() throws StreamFailure;

    /** Makes the socket for an address, or tells why not. */
    final DatagramTestSocket open(InetAddress address) throws StreamFailure {
        try {
            return tryOpen(address);
        } catch (IOException e) {
            throw failure("rsocket failed", e);
        }
    }

    /** Makes the socket for an address. */
    final DatagramTestSocket tryOpen(InetAddress address) throws IOException {
        int bytes = options.bufferBytes() == 0 ? DEFAULT_BUFFER_BYTES : options.bufferBytes();
        DatagramTestSocket made =
                options.usesUdp() ? UdpTestSocket.open(HostLookup.familyOf(address)) : RdmaDatagramTestSocket.open();
        socket = made;
        setBuffers(made, bytes);
        return made;
    }

    /** C does not look at the result. */
    private static void setBuffers(DatagramTestSocket made, int bytes) throws IOException {
        try {
            made.setBuffers(bytes);
        } catch (IllegalArgumentException tooSmall) {
            // Then the socket keeps what it has.
        }
    }

    /** An address and a port as they were typed; the port of the server, or any. */
    final InetSocketAddress lookUp(String host, boolean toServer) throws StreamFailure {
        try {
            int port = Failures.port(options.port());
            return new InetSocketAddress(HostLookup.first("getaddrinfo", host, null, false), toServer ? port : 0);
        } catch (AddressLookupException e) {
            report.line("getaddrinfo: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new StreamFailure(e.code());
        }
    }

    /** Sends a message to a peer, or to the one that the socket is connected to; waits for room. */
    final void send(DatagramTestSocket with, UdpongMessage message, int bytes, @Nullable InetSocketAddress to)
            throws IOException {
        if (options.isAsync()) {
            with.await(PollEvents.OUT, null);
        }
        while (!(to == null ? with.send(message.toSend(bytes)) : with.sendTo(message.toSend(bytes), to))) {
            with.await(PollEvents.OUT, null);
        }
    }

    /** Tells what failed. */
    final StreamFailure failure(String call, IOException e) {
        if (e.getCause() instanceof RdmaException cause && cause.errno() == Errno.ENODEV) {
            report.errorLine("No RDMA devices were detected");
        } else {
            report.errorLine(call + ": " + Failures.text(e));
        }
        report.explain(Failures.explanation(call, e));
        return new StreamFailure(FAILED);
    }
}
