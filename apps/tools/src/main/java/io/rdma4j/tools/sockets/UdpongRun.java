package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** A run of udpong, as server or client. */
abstract class UdpongRun {
    /** The exit status of a failure, C's -1. */
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

    /** Runs the server or client and returns the exit status. */
    final int run() {
        Runnable atInterrupt = this::interrupt;
        environment.onInterrupt(atInterrupt);
        options.report(environment.report());
        try {
            exchange();
            return 0;
        } catch (ToolFailure failure) {
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

    /** Runs the protocol of the server or client. */
    abstract void exchange() throws ToolFailure;

    /** Opens the socket for an address. A failure is reported. */
    final DatagramTestSocket open(InetAddress address) throws ToolFailure {
        try {
            return tryOpen(address);
        } catch (IOException e) {
            throw failure("rsocket failed", e);
        }
    }

    /** Opens the socket for an address. */
    final DatagramTestSocket tryOpen(InetAddress address) throws IOException {
        int bytes = options.bufferBytes() == 0 ? DEFAULT_BUFFER_BYTES : options.bufferBytes();
        DatagramTestSocket opened = options.usesUdp()
                ? UdpTestSocket.open(HostLookup.familyOf(address))
                : RdmaDatagramTestSocket.open(environment.rdma());
        socket = opened;
        setBuffers(opened, bytes);
        return opened;
    }

    /** Sets the buffer sizes and ignores unsupported sizes, because C ignores the result. */
    private static void setBuffers(DatagramTestSocket opened, int bytes) throws IOException {
        try {
            opened.setBuffers(bytes);
        } catch (IllegalArgumentException tooSmall) {
            // The socket keeps its sizes.
        }
    }

    /** Looks up an address as typed, with the port of the server or with port 0. */
    final InetSocketAddress lookUp(String host, boolean toServer) throws ToolFailure {
        try {
            int port = ServiceLookup.port("getaddrinfo", options.port(), ServiceLookup.Protocol.UDP);
            return new InetSocketAddress(HostLookup.first("getaddrinfo", host, null, false), toServer ? port : 0);
        } catch (AddressLookupException e) {
            report.line("getaddrinfo: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new ToolFailure(e.code());
        }
    }

    /** Sends a message to an address, or to the connected peer if the address is null. Waits for buffer space. */
    final void send(DatagramTestSocket channel, UdpongMessage message, int bytes, @Nullable InetSocketAddress to)
            throws IOException {
        if (options.isAsync()) {
            channel.await(PollEvents.OUT, null);
        }
        while (!(to == null ? channel.send(message.toSend(bytes)) : channel.sendTo(message.toSend(bytes), to))) {
            channel.await(PollEvents.OUT, null);
        }
    }

    /** Reports which call failed, and why. */
    final ToolFailure failure(String call, IOException e) {
        if (e.getCause() instanceof RdmaException cause && cause.errno() == Errno.ENODEV) {
            report.errorLine("No RDMA devices were detected");
        } else {
            report.errorLine(call + ": " + Failures.text(e));
        }
        report.explain(Failures.explanation(call, e));
        return new ToolFailure(FAILED);
    }
}
