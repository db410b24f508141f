package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.Errno;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** The client of rcopy: sends one file. */
final class RcopyClient {
    private final RcopyOptions.Copy copy;
    private final ToolEnvironment environment;

    RcopyClient(RcopyOptions.Copy copy, ToolEnvironment environment) {
        this.copy = copy;
        this.environment = environment;
    }

    /** Sends it; the exit status: 0, or the number of the server's error. */
    int run() throws StreamFailure {
        try (RcopyConnection connection = new RcopyConnection(connect())) {
            print("opening...");
            try (FileChannel file = FileChannel.open(Path.of(copy.source()))) {
                if (Files.isDirectory(Path.of(copy.source()))) {
                    throw new IOException("it is a directory");
                }
                return send(connection, file);
            } catch (SocketException e) {
                throw unfinished("the connection was lost: " + e.getMessage());
            } catch (IOException | InvalidPathException e) {
                throw unfinished("the file " + copy.source() + " cannot be read: " + e);
            }
        }
    }

    private RdmaStreamSocket connect() throws StreamFailure {
        InetSocketAddress server;
        try {
            server = new InetSocketAddress(
                    HostLookup.first("getaddrinfo", copy.server(), null, false), Failures.port(copy.port()));
        } catch (AddressLookupException e) {
            environment.out().println("getaddrinfo failed: " + e.reason().text());
            environment.err().println("rcopy: " + e.getMessage());
            throw new StreamFailure(e.code());
        }
        RdmaStreamSocket socket = Rcopy.open(environment);
        try {
            socket.connect(server);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw Rcopy.failure(environment, "rconnect failed\n", e);
        }
    }

    private int send(RcopyConnection connection, FileChannel file) throws IOException, StreamFailure {
        byte[] path = copy.destination().getBytes(StandardCharsets.UTF_8);
        if (!RcopyMessage.canTell(path.length)) {
            throw unfinished("the path at the server is too long: " + path.length + " bytes");
        }
        long size = file.size();
        ByteBuffer open = RcopyMessage.of(
                        RcopyMessage.OPEN,
                        RcopyMessage.pathBytes(path.length),
                        RcopyFiles.modeOf(Path.of(copy.source())))
                .toBuffer()
                .put(path);
        connection.send(open.clear());
        int status = response(connection, RcopyMessage.OPEN);
        if (status != 0) {
            return told(status, "opened");
        }
        print("transferring");
        connection.send(RcopyMessage.of(RcopyMessage.WRITE, RcopyMessage.SIZE_BYTES, 0)
                .toBuffer()
                .putLong(size)
                .flip());
        print("...");
        long begin = System.nanoTime();
        connection.sendFrom(file, size);
        status = response(connection, RcopyMessage.WRITE);
        long micros = (System.nanoTime() - begin) / 1000;
        close(connection);
        if (status != 0) {
            return told(status, "written");
        }
        tell(size, micros);
        return 0;
    }

    private void close(RcopyConnection connection) throws IOException, StreamFailure {
        print("closing...");
        connection.send(RcopyMessage.of(RcopyMessage.CLOSE, 0, 0).toBuffer().flip());
        if (response(connection, RcopyMessage.CLOSE) == 0) {
            environment.out().println("done");
        }
    }

    private int response(RcopyConnection connection, int command) throws IOException, StreamFailure {
        ByteBuffer header = connection.receive(RcopyMessage.HEADER_BYTES);
        if (header == null) {
            throw unfinished("the server ended the connection; what it prints may tell why");
        }
        RcopyMessage message = RcopyMessage.read(header);
        if (message.version() != 0 || message.lengthBytes() < RcopyMessage.HEADER_BYTES) {
            environment.out().println("invalid version " + message.version() + " or length " + message.lengthBytes());
            throw new StreamFailure(StreamRun.FAILED);
        }
        int wanted = command | RcopyMessage.RESPONSE;
        if (message.lengthBytes() != RcopyMessage.HEADER_BYTES || message.command() != wanted) {
            environment
                    .out()
                    .println("invalid length " + message.lengthBytes() + " or bad command response "
                            + Integer.toHexString(message.command()) + ":" + Integer.toHexString(wanted));
            throw new StreamFailure(StreamRun.FAILED);
        }
        return message.data();
    }

    /** C ends without a word here. */
    private int told(int status, String what) {
        environment.out().println();
        environment
                .err()
                .println("rcopy: " + copy.destination() + " could not be " + what + " at the server: error " + status
                        + (Errno.of(status).number() == status
                                ? ", " + Errno.of(status).text()
                                : ""));
        return status;
    }

    private void tell(long size, long micros) {
        float usec = (float) micros;
        environment
                .out()
                .println(size + " bytes in " + TransferFigures.twoDecimals(usec / 1e6) + " seconds = "
                        + TransferFigures.twoDecimals(size * 8 / (1000.0 * usec)) + " Gb/sec");
        environment.report().result("bytes", size).result("elapsedSeconds", micros / 1e6);
    }

    /** Ends the line that C leaves open, and says why. */
    private StreamFailure unfinished(String text) {
        environment.out().println();
        environment.err().println("rcopy: " + text);
        return new StreamFailure(StreamRun.FAILED);
    }

    private void print(String text) {
        environment.out().print(text);
        environment.out().flush();
    }
}
