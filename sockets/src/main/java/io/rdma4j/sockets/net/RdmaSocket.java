package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.SocketFamily;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImpl;

/** A socket that transfers its data over RDMA. */
public final class RdmaSocket extends Socket {
    /** Creates an unconnected socket for addresses of a family. */
    public RdmaSocket(SocketFamily family) throws SocketException {
        this(new RdmaSocketImpl(family, false));
    }

    RdmaSocket(SocketImpl impl) throws SocketException {
        super(impl);
    }
}
