package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.SocketFamily;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;

/** A server socket that accepts connections over RDMA. */
public final class RdmaServerSocket extends ServerSocket {
    private final SocketFamily family;

    /** Creates an unbound server socket for addresses of a family. */
    public RdmaServerSocket(SocketFamily family) {
        super(new RdmaSocketImpl(family, true));
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
        Socket accepted = new RdmaSocket(new RdmaSocketImpl(family, false));
        implAccept(accepted);
        return accepted;
    }
}
