package io.rdma4j.tools.sockets;

import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A run of rstream, which sends bytes over the stream to the server and back. */
final class RstreamRun extends StreamRun {
    private static final long MAX_SECONDS = 1_000_000_000;

    private final List<String> arguments;
    private final ByteBuffer buffer;
    private final StreamPattern sent = new StreamPattern();
    private final StreamPattern expected = new StreamPattern();
    private boolean inherited;

    /** Creates a run. A process for a connection gets the same arguments. */
    RstreamRun(String tool, StreamToolOptions options, List<String> arguments, ToolEnvironment environment) {
        super(tool, options, environment);
        this.arguments = arguments;
        buffer = buffer();
    }

    @Override
    TestSocket open(InetAddress address, boolean passive) throws IOException {
        if (!options.usesTcp()) {
            return new RdmaTestSocket(environment.rdma().openStreamSocket());
        }
        StandardProtocolFamily family = HostLookup.familyOf(address);
        return passive ? TcpTestSocket.listening(family) : TcpTestSocket.connecting(family);
    }

    @Override
    long measure(TestSocket socket, StreamTest test) throws ToolFailure {
        boolean first = !options.isServer();
        transfer(socket, syncBytes(), first);
        transfer(socket, syncBytes(), !first);
        long startNanos = System.nanoTime();
        for (int i = 0; i < test.iterations(); i++) {
            for (int t = 0; t < test.transfers(); t++) {
                transfer(socket, test.sizeBytes(), first);
            }
            for (int t = 0; t < test.transfers(); t++) {
                transfer(socket, test.sizeBytes(), !first);
            }
        }
        return (System.nanoTime() - startNanos) / 1000;
    }

    private void transfer(TestSocket socket, int bytes, boolean toPeer) throws ToolFailure {
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

    /**
     * Runs the tests of a connection. With {@code -T f} a server starts a process for the connection and waits for the
     * process to exit.
     */
    @Override
    void connection(@Nullable TestSocket listener, Phase phase) throws ToolFailure {
        if (listener == null || !options.has(Test.FORK)) {
            super.connection(listener, phase);
            return;
        }
        ToolProcess child;
        TestSocket socket = acceptOnly(listener, phase);
        try {
            List<String> words = new ArrayList<>(List.of("rstream"));
            words.addAll(arguments);
            Consumer<String> onOutput = outputOfProcess(phase);
            child = get("fork", () -> ((TcpTestSocket) socket).serveBy(words, phase, onOutput, report::errorLine));
        } finally {
            closeQuietly(socket);
        }
        try (child) {
            if (child.await(MAX_SECONDS) != 0) {
                throw new ToolFailure(FAILED);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ToolFailure(FAILED);
        }
    }

    /**
     * Returns the consumer of the output of a connection's process. It prints the lines and adds the measurements to
     * the rows of this process.
     */
    private Consumer<String> outputOfProcess(Phase phase) {
        Iterator<StreamTest> tests = testsOf(phase).iterator();
        return line -> {
            OptionalLong micros = ProcessPerConnection.measured(line);
            if (micros.isPresent() && tests.hasNext()) {
                super.onMeasured(tests.next(), micros.getAsLong());
            } else {
                report.line(line);
            }
        };
    }

    /** Serves the connection on the standard input of this process. */
    int serveInherited(Phase phase) {
        inherited = true;
        try {
            TestSocket socket = get("fork", () -> TcpTestSocket.of(ProcessPerConnection.inherited()));
            setOptions(socket, phase);
            test(socket, phase);
            end(socket);
            return 0;
        } catch (ToolFailure failure) {
            return failure.status();
        }
    }

    /** Reports a measurement. The process of a connection passes it to its parent process, which reports all rows. */
    @Override
    void onMeasured(StreamTest test, long micros) {
        if (inherited) {
            report.line(ProcessPerConnection.measuredLine(micros));
        } else {
            super.onMeasured(test, micros);
        }
    }
}
