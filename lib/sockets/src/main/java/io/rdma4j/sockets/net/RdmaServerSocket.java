package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;

/** A server socket that accepts connections over RDMA. */
public final class RdmaServerSocket extends ServerSocket {
    private final ConnectionService service;
    private final SocketFamily family;

    /** Creates an unbound server socket for addresses of a family. */
    public RdmaServerSocket(ConnectionService service, SocketFamily family) {
        super(new RdmaSocketImpl(service, family, true));
        this.service = service;
        this.family = family;
    }

    @Override
    public Socket accept() throws IOException {
        if (isClosed()) {
            throw new SocketException("Socket is closed");
        }
        if (!isBound()) {
            throw new SocketException("Socket is not bound yet");
        }
        Socket accepted = new RdmaSocket(service, family);
        implAccept(accepted);
        return accepted;
    }
}
