package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import java.net.Socket;
import java.net.SocketException;

/** A socket that transfers its data over RDMA. */
public final class RdmaSocket extends Socket {
    /** Creates an unconnected socket for addresses of a family. */
    public RdmaSocket(ConnectionService service, SocketFamily family) throws SocketException {
        super(new RdmaSocketImpl(service, family, false));
    }
}
