package io.rdma4j.tools.sockets;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The server of udpong, which counts and echoes the datagrams of its clients until it is terminated. */
final class UdpongServer extends UdpongRun {
    private static final int MAX_CLIENTS = 256;

    private final UdpongMessage message = new UdpongMessage();
    private final int[] counts = new int[MAX_CLIENTS];
    private int logins;
    private long unanswered;

    private final WarmUp warmUp;

    /**
     * Creates a server.
     *
     * @param warmUp the warm-up that the server ends when its first client logs in
     */
    UdpongServer(UdpongOptions options, ToolEnvironment environment, WarmUp warmUp) {
        super(options, environment);
        this.warmUp = warmUp;
    }

    @Override
    void exchange() throws ToolFailure {
        serve(bind());
    }

    /** Serves a socket until it fails or is closed. */
    void serve(DatagramTestSocket socket) throws ToolFailure {
        environment.report().result("logins", 0);
        while (true) {
            InetSocketAddress from = receive(socket);
            int bytes = message.length();
            if (message.hasHeader() && process(from.getAddress())) {
                respond(socket, bytes, from);
            }
        }
    }

    /**
     * Sends the message back. A failure does not end the server, since the source address may be forged. Only the first
     * failure is printed, so that forged addresses cannot fill a disk with output.
     */
    private void respond(DatagramTestSocket socket, int bytes, InetSocketAddress to) {
        try {
            send(socket, message, bytes, to);
        } catch (IOException e) {
            if (unanswered++ == 0) {
                report.explain("no response can be sent to " + AddressText.of(to) + ": " + Failures.text(e)
                        + ". Other clients are still served; further failures are only counted");
            }
            environment.report().result("unanswered", unanswered);
        }
    }

    private DatagramTestSocket bind() throws ToolFailure {
        if (options.bind() != null) {
            InetSocketAddress local = lookUp(options.bind(), true);
            return bind(open(local.getAddress()), local);
        }
        InetSocketAddress wildcard = lookUp("::", true);
        try {
            return tryBind(wildcard);
        } catch (IOException noIpv6) {
            InetSocketAddress ipv4 = lookUp("0.0.0.0", true);
            return bind(open(ipv4.getAddress()), ipv4);
        }
    }

    private DatagramTestSocket tryBind(InetSocketAddress local) throws IOException {
        DatagramTestSocket socket = tryOpen(local.getAddress());
        try {
            socket.bind(local);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private DatagramTestSocket bind(DatagramTestSocket socket, InetSocketAddress local) throws ToolFailure {
        try {
            socket.bind(local);
            return socket;
        } catch (IOException e) {
            throw failure("rbind", e);
        }
    }

    private InetSocketAddress receive(DatagramTestSocket socket) throws ToolFailure {
        try {
            @Nullable InetSocketAddress from = null;
            if (options.isAsync()) {
                socket.await(PollEvents.IN, null);
            }
            while ((from = socket.receive(message.toReceive())) == null) {
                socket.await(PollEvents.IN, null);
            }
            return from;
        } catch (IOException e) {
            throw failure("rrecv", e);
        }
    }

    /** Processes the message. Returns whether the server must send it back. */
    private boolean process(InetAddress from) {
        switch (message.operation()) {
            case UdpongMessage.LOGIN -> {
                warmUp.close();
                report.line("client login from " + AddressText.of(from));
                message.client(logins++);
                environment.report().result("logins", logins);
                counts[message.client()] = 0;
            }
            case UdpongMessage.START -> counts[message.client()] = 0;
            case UdpongMessage.ECHO -> counts[message.client()]++;
            case UdpongMessage.END -> message.data(counts[message.client()]);
            default -> {
                counts[message.client()]++;
                return false;
            }
        }
        return true;
    }
}
