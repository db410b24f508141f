package io.rdma4j.tools.sockets;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.tools.ToolEnvironment;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The server of udpong: counts what its clients send, and answers. Runs until it is ended. */
final class UdpongServer extends UdpongRun {
    private static final int MOST_CLIENTS = 256;

    private final UdpongMessage message = new UdpongMessage();
    private final int[] counts = new int[MOST_CLIENTS];
    private int logins;

    UdpongServer(UdpongOptions options, ToolEnvironment environment) {
        super(options, environment);
    }

    @Override
    void exchange() throws StreamFailure {
        serve(bind());
    }

    /** Serves a socket until it fails or is closed. */
    void serve(DatagramTestSocket socket) throws StreamFailure {
        environment.report().result("logins", 0);
        while (true) {
            InetSocketAddress from = receive(socket);
            int bytes = message.length();
            if (message.hasHeader() && process(from.getAddress())) {
                send(socket, message, bytes, from);
            }
        }
    }

    private DatagramTestSocket bind() throws StreamFailure {
        if (options.bind() != null) {
            InetSocketAddress local = lookUp(options.bind(), true);
            return bind(open(local.getAddress()), local);
        }
        InetSocketAddress everywhere = lookUp("::", true);
        DatagramTestSocket socket = open(everywhere.getAddress());
        try {
            socket.bind(everywhere);
            return socket;
        } catch (IOException noIpv6) {
            socket.close();
            InetSocketAddress ipv4 = lookUp("0.0.0.0", true);
            return bind(open(ipv4.getAddress()), ipv4);
        }
    }

    private DatagramTestSocket bind(DatagramTestSocket socket, InetSocketAddress local) throws StreamFailure {
        try {
            socket.bind(local);
            return socket;
        } catch (IOException e) {
            throw failure("rbind", e);
        }
    }

    private InetSocketAddress receive(DatagramTestSocket socket) throws StreamFailure {
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

    /** Whether the message goes back. */
    private boolean process(InetAddress from) {
        switch (message.operation()) {
            case UdpongMessage.LOGIN -> {
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
