package io.rdma4j.tools.sockets;

import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;

/** A run of rstream: bytes through the stream, to the server and back. */
final class RstreamRun extends StreamRun {
    private final ByteBuffer buffer;
    private final Pattern sent = new Pattern();
    private final Pattern expected = new Pattern();

    /** Prepares a run. */
    RstreamRun(String tool, StreamToolOptions options, ToolEnvironment environment) {
        super(tool, options, environment);
        buffer = buffer();
    }

    @Override
    TestSocket open(InetAddress address, boolean toListen) throws IOException {
        if (!options.usesTcp()) {
            return RdmaTestSocket.open();
        }
        StandardProtocolFamily family = HostLookup.familyOf(address);
        return toListen ? TcpTestSocket.listening(family) : TcpTestSocket.connecting(family);
    }

    @Override
    long measure(TestSocket socket, StreamTest test) throws StreamFailure {
        boolean first = !options.isServer();
        transfer(socket, syncBytes(), first);
        transfer(socket, syncBytes(), !first);
        long begin = System.nanoTime();
        for (int i = 0; i < test.iterations(); i++) {
            for (int t = 0; t < test.transfers(); t++) {
                transfer(socket, test.sizeBytes(), first);
            }
            for (int t = 0; t < test.transfers(); t++) {
                transfer(socket, test.sizeBytes(), !first);
            }
        }
        return (System.nanoTime() - begin) / 1000;
    }

    private void transfer(TestSocket socket, int bytes, boolean toPeer) throws StreamFailure {
        if (toPeer) {
            if (options.has(Test.VERIFY)) {
                sent.fill(buffer, bytes);
            }
            sendAll(socket, buffer, bytes);
            return;
        }
        receiveAll(socket, buffer, bytes);
        if (options.has(Test.VERIFY)) {
            verify(expected, buffer, bytes);
        }
    }
}
