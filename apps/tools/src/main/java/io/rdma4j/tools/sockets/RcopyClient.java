package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.command.TerminalText;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/** The client of rcopy: sends one file. */
final class RcopyClient {
    private static final char REPLACEMENT = '\ufffd';
    private static final int LOW_BYTE = 0xff;

    private final RcopyOptions.Copy copy;
    private final ToolEnvironment environment;

    RcopyClient(RcopyOptions.Copy copy, ToolEnvironment environment) {
        this.copy = copy;
        this.environment = environment;
    }

    /** Sends the file. Returns the exit status: 0, or the number of the server's error. */
    int run() throws ToolFailure {
        requireNames();
        try (RcopyConnection connection = new RcopyConnection(connect())) {
            print("opening...");
            try (FileChannel file = open(Path.of(copy.source()))) {
                return send(connection, file);
            } catch (SocketException e) {
                throw failure("the connection was lost: " + e.getMessage());
            } catch (IOException | InvalidPathException e) {
                throw failure("the file " + copy.source() + " cannot be read: " + FileError.describe(e));
            }
        }
    }

    /** Rejects names with the replacement character, with which Java replaces bytes that the locale cannot decode. */
    private void requireNames() throws ToolFailure {
        for (String name : List.of(copy.source(), copy.destination())) {
            if (name.indexOf(REPLACEMENT) >= 0) {
                environment
                        .err()
                        .println("rcopy: the name " + TerminalText.of(name)
                                + " cannot be decoded: it is not UTF-8, or the locale is not; try LC_ALL=C.UTF-8");
                throw new ToolFailure(StreamRun.FAILED);
            }
        }
    }

    /** Opens the file if it is regular. Opening a pipe would block until its other end is opened. */
    private static FileChannel open(Path source) throws IOException {
        if (Files.isDirectory(source)) {
            throw new IOException("it is a directory");
        }
        if (Files.exists(source) && !Files.isRegularFile(source)) {
            throw new IOException("it is not a regular file");
        }
        return FileChannel.open(source);
    }

    private RdmaStreamSocket connect() throws ToolFailure {
        InetSocketAddress server;
        try {
            server = new InetSocketAddress(
                    HostLookup.first("getaddrinfo", copy.server(), null, false),
                    ServiceLookup.port("getaddrinfo", copy.port(), null));
        } catch (AddressLookupException e) {
            environment.out().println("getaddrinfo failed: " + e.reason().text());
            environment.err().println("rcopy: " + e.getMessage());
            throw new ToolFailure(e.code());
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

    private int send(RcopyConnection connection, FileChannel file) throws IOException, ToolFailure {
        byte[] path = copy.destination().getBytes(StandardCharsets.UTF_8);
        if (!RcopyMessage.canHoldPath(path.length)) {
            throw failure("the path at the server is too long: " + path.length + " bytes");
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
            return serverFailure(status, "opened");
        }
        print("transferring");
        connection.send(RcopyMessage.of(RcopyMessage.WRITE, RcopyMessage.SIZE_BYTES, 0)
                .toBuffer()
                .putLong(size)
                .flip());
        print("...");
        long startNanos = System.nanoTime();
        status = sendContents(connection, file, size);
        long micros = (System.nanoTime() - startNanos) / 1000;
        if (status != 0) {
            return serverFailure(status, "written");
        }
        status = close(connection);
        if (status != 0) {
            return serverFailure(status, "closed");
        }
        report(size, micros);
        return 0;
    }

    /**
     * Sends the contents and returns the server's status. A server without disk space responds and closes the
     * connection early.
     */
    private int sendContents(RcopyConnection connection, FileChannel file, long size) throws IOException, ToolFailure {
        try {
            connection.sendFrom(file, size);
        } catch (SocketException lost) {
            ByteBuffer header = connection.receiveBeforeEnd(RcopyMessage.HEADER_BYTES);
            int status = header == null ? 0 : status(header, RcopyMessage.WRITE);
            if (status == 0) {
                throw lost;
            }
            return status;
        }
        return response(connection, RcopyMessage.WRITE);
    }

    private int close(RcopyConnection connection) throws IOException, ToolFailure {
        print("closing...");
        connection.send(RcopyMessage.of(RcopyMessage.CLOSE, 0, 0).toBuffer().flip());
        int status = response(connection, RcopyMessage.CLOSE);
        if (status == 0) {
            environment.out().println("done");
        }
        return status;
    }

    private int response(RcopyConnection connection, int command) throws IOException, ToolFailure {
        ByteBuffer header = connection.receive(RcopyMessage.HEADER_BYTES);
        if (header == null) {
            throw failure("the server closed the connection; its output may show the reason");
        }
        return status(header, command);
    }

    private int status(ByteBuffer header, int command) throws ToolFailure {
        RcopyMessage message = RcopyMessage.read(header);
        if (message.version() != 0 || message.lengthBytes() < RcopyMessage.HEADER_BYTES) {
            environment.out().println("invalid version " + message.version() + " or length " + message.lengthBytes());
            throw new ToolFailure(StreamRun.FAILED);
        }
        int expected = command | RcopyMessage.RESPONSE;
        if (message.lengthBytes() != RcopyMessage.HEADER_BYTES || message.command() != expected) {
            environment
                    .out()
                    .println("invalid length " + message.lengthBytes() + " or bad command response "
                            + Integer.toHexString(message.command()) + ":" + Integer.toHexString(expected));
            throw new ToolFailure(StreamRun.FAILED);
        }
        return message.data();
    }

    /** Reports an error of the server. C's tool exits without a message. Returns the exit status. */
    private int serverFailure(int status, String action) {
        environment.out().println();
        environment
                .err()
                .println("rcopy: " + copy.destination() + " could not be " + action + " at the server: error " + status
                        + FileError.ofNumber(status)
                                .map(error -> ", " + error.text())
                                .orElse(""));
        // The shell sees only the low byte of the status.
        return (status & LOW_BYTE) == 0 ? StreamRun.FAILED : status;
    }

    private void report(long size, long micros) {
        float usec = (float) micros;
        environment
                .out()
                .println(size + " bytes in " + TransferFigures.twoDecimals(usec / 1e6) + " seconds = "
                        + TransferFigures.twoDecimals(size * 8 / (1000.0 * usec)) + " Gb/sec");
        environment.report().result("bytes", size).result("elapsedSeconds", micros / 1e6);
    }

    /** Ends the line that C leaves unfinished, and prints the reason. */
    private ToolFailure failure(String text) {
        environment.out().println();
        environment.err().println("rcopy: " + text);
        return new ToolFailure(StreamRun.FAILED);
    }

    private void print(String text) {
        environment.out().print(text);
        environment.out().flush();
    }
}
