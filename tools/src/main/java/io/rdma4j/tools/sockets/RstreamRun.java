package io.rdma4j.tools.sockets;

import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.ToolProcess;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run of rstream: bytes through the stream, to the server and back. */
final class RstreamRun extends StreamRun {
    private static final long MOST_SECONDS = 1_000_000_000;

    private final List<String> arguments;
    private final ByteBuffer buffer;
    private final Pattern sent = new Pattern();
    private final Pattern expected = new Pattern();

    /** Prepares a run; a process for a connection gets the same arguments. */
    RstreamRun(String tool, StreamToolOptions options, List<String> arguments, ToolEnvironment environment) {
        super(tool, options, environment);
        this.arguments = arguments;
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

    // ---- a process for each connection

    /** With {@code -T f} a server has every connection served by another process, and waits for its end. */
    @Override
    void connection(@Nullable TestSocket listener, Phase phase, List<StreamTest> tests) throws StreamFailure {
        if (listener == null || !options.has(Test.FORK)) {
            super.connection(listener, phase, tests);
            return;
        }
        ToolProcess child;
        TestSocket socket = acceptOnly(listener, phase);
        try {
            List<String> words = new ArrayList<>(List.of("rstream"));
            words.addAll(arguments);
            child = get("fork", () -> ((TcpTestSocket) socket).serveBy(words, phase, report));
        } finally {
            closeQuietly(socket);
        }
        try (child) {
            if (child.await(MOST_SECONDS) != 0) {
                throw new StreamFailure(FAILED);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StreamFailure(FAILED);
        }
    }

    /** Serves the connection that this process was started with. */
    int serveInherited(Phase phase) {
        try {
            TestSocket socket = get("fork", () -> TcpTestSocket.of(ProcessPerConnection.inherited()));
            setOptions(socket, phase);
            tests(
                    socket,
                    phase == Phase.MIXED ? List.of(options.customTest()) : options.series(phase == Phase.LATENCY));
            end(socket);
            return 0;
        } catch (StreamFailure failure) {
            return failure.status();
        }
    }
}
