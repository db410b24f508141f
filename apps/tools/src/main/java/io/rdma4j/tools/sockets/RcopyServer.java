package io.rdma4j.tools.sockets;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.command.TerminalText;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The server of rcopy, which serves one client after another until the process is terminated. */
final class RcopyServer {
    private static final int SUCCESS = 0;

    /** The status that drops the connection. */
    private static final int DROP = -1;

    private final ToolEnvironment environment;
    private volatile @Nullable IncomingFile file;
    private volatile boolean interrupted;
    private long files;
    private long bytes;

    RcopyServer(ToolEnvironment environment) {
        this.environment = environment;
    }

    /** Serves clients until an interrupt. Returns the exit status. */
    int run(int port) throws ToolFailure {
        RdmaStreamSocket listener = listen(port);
        try (listener) {
            environment.onInterrupt(() -> {
                interrupt();
                listener.close();
            });
            reportTotals();
            while (true) {
                print("waiting for connection...");
                RdmaStreamSocket socket;
                try {
                    socket = Objects.requireNonNull(listener.accept());
                } catch (IOException e) {
                    if (interrupted) {
                        return SUCCESS;
                    }
                    line("");
                    throw Rcopy.failure(environment, "raccept failed", e);
                }
                serve(socket);
                reportTotals();
            }
        }
    }

    /** Deletes the incomplete file. After that, the server creates no file and reports no file as complete. */
    private synchronized void interrupt() {
        interrupted = true;
        closeFile();
    }

    private void reportTotals() {
        environment.report().result("files", files).result("bytes", bytes);
    }

    /** Listens on all addresses, or on the IPv4 addresses if the host has no IPv6. */
    private RdmaStreamSocket listen(int port) throws ToolFailure {
        try {
            return listen("::", port);
        } catch (IOException | UnsupportedAddressTypeException noIpv6) {
            try {
                return listen("0.0.0.0", port);
            } catch (IOException e) {
                throw Rcopy.failure(environment, "rbind failed", e);
            }
        }
    }

    private RdmaStreamSocket listen(String address, int port) throws IOException, ToolFailure {
        RdmaStreamSocket listener = Rcopy.open(environment);
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral(address), port));
            listener.listen(1);
            return listener;
        } catch (IOException | UnsupportedAddressTypeException e) {
            listener.close();
            throw e;
        }
    }

    private void serve(RdmaStreamSocket socket) {
        InetSocketAddress peer = socket.peerAddress();
        String text = peer == null ? "" : AddressText.of(peer.getAddress());
        int scope = text.indexOf('%');
        line("client: " + (scope < 0 ? text : text.substring(0, scope)));
        try (RcopyConnection connection = new RcopyConnection(socket)) {
            while (serveMessage(connection) == SUCCESS) {
                // Repeats until the client disconnects or a message fails.
            }
        } catch (IOException lost) {
            explain(lost.getMessage() + ": the client has disconnected");
        } finally {
            closeFile();
        }
    }

    private int serveMessage(RcopyConnection connection) throws IOException {
        ByteBuffer header = connection.receive(RcopyMessage.HEADER_BYTES);
        if (header == null) {
            return DROP;
        }
        RcopyMessage message = RcopyMessage.read(header);
        if (message.version() != 0 || message.lengthBytes() < RcopyMessage.HEADER_BYTES) {
            line("invalid version " + message.version() + " or length " + message.lengthBytes());
            return DROP;
        }
        return switch (message.command()) {
            case RcopyMessage.OPEN -> open(connection, message);
            case RcopyMessage.CLOSE -> close(connection, message);
            case RcopyMessage.WRITE -> write(connection, message);
            default -> {
                respond(connection, message, FileError.EINVAL.number());
                yield DROP;
            }
        };
    }

    private static void respond(RcopyConnection connection, RcopyMessage message, int errorNumber) throws IOException {
        connection.send(message.response(errorNumber).toBuffer().flip());
    }

    private int open(RcopyConnection connection, RcopyMessage message) throws IOException {
        print("opening: ");
        int status = open(connection.receive(message.lengthBytes() - RcopyMessage.HEADER_BYTES), message.data());
        respond(connection, message, status);
        return status;
    }

    private int open(@Nullable ByteBuffer path, int mode) {
        if (file != null) {
            line("cannot open another file");
            return FileError.EBUSY.number();
        }
        if (path == null) {
            line("error receiving path");
            return FileError.EIO.number();
        }
        try {
            String text = textOf(path);
            print(TerminalText.of(text) + ", ");
            requireNoDirectory(text);
            create(Path.of(text), mode);
            return SUCCESS;
        } catch (IOException | IllegalArgumentException e) {
            line("unable to open destination file");
            return reportFailure(e);
        }
    }

    private synchronized void create(Path path, int mode) throws IOException {
        if (interrupted) {
            throw FileError.EIO.exception();
        }
        file = IncomingFile.create(path, mode);
    }

    /** Rejects a name that ends with a slash, which Java's path would drop. */
    private static void requireNoDirectory(String text) throws IOException {
        if (text.endsWith("/")) {
            Path path = Path.of(text).toAbsolutePath();
            if (Files.exists(path) && !Files.isDirectory(path)) {
                throw FileError.ENOTDIR.exception();
            }
            Path parent = path.getParent();
            throw (parent == null || Files.exists(parent) ? FileError.EISDIR : FileError.ENOENT).exception();
        }
    }

    /**
     * Decodes the path up to the first zero.
     *
     * @throws IOException if the path is not UTF-8, since the file would get a different name
     */
    private static String textOf(ByteBuffer path) throws IOException {
        int length = 0;
        while (length < path.remaining() && path.get(path.position() + length) != 0) {
            length++;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(path.slice(path.position(), length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw FileError.EILSEQ.exception();
        }
    }

    /** Prints the reason and returns the error number for the client. */
    private int reportFailure(Exception failure) {
        explain(FileError.describe(failure));
        return FileError.of(failure).number();
    }

    private int write(RcopyConnection connection, RcopyMessage message) throws IOException {
        print("transferring");
        int status = writeFile(connection, message.lengthBytes());
        respond(connection, message, status);
        return status;
    }

    private int writeFile(RcopyConnection connection, int lengthBytes) throws IOException {
        IncomingFile target = file;
        if (target == null) {
            line("...file not opened");
            return FileError.EINVAL.number();
        }
        if (lengthBytes != RcopyMessage.HEADER_BYTES + RcopyMessage.SIZE_BYTES) {
            line("...invalid message length " + lengthBytes);
            return FileError.EINVAL.number();
        }
        ByteBuffer size = connection.receive(RcopyMessage.SIZE_BYTES);
        if (size == null) {
            return FileError.EIO.number();
        }
        long expected = size.order(ByteOrder.nativeOrder()).getLong();
        WritableByteChannel contents;
        try {
            contents = target.begin(expected);
        } catch (IOException e) {
            line("...error allocating file");
            return reportFailure(e);
        }
        print("..." + expected + " bytes...");
        try {
            long received = connection.receiveInto(contents, expected);
            if (received == expected) {
                bytes += expected;
                return SUCCESS;
            }
            line("...error receiving data");
            return FileError.EIO.number();
        } catch (IOException e) {
            line("...error writing file");
            return reportFailure(e);
        }
    }

    private int close(RcopyConnection connection, RcopyMessage message) throws IOException {
        print("closing...");
        int status = commitFile();
        respond(connection, message, status);
        if (status == SUCCESS) {
            line("done");
        }
        return status;
    }

    private int commitFile() {
        IncomingFile completed = file;
        if (completed == null) {
            return interrupted ? FileError.EIO.number() : SUCCESS;
        }
        try {
            completed.commit();
            file = null;
            files++;
            return SUCCESS;
        } catch (IOException e) {
            line("error closing file");
            return reportFailure(e);
        }
    }

    private void closeFile() {
        IncomingFile unfinished = file;
        file = null;
        if (unfinished != null) {
            unfinished.close();
        }
    }

    private void print(String text) {
        environment.out().print(text);
        environment.out().flush();
    }

    private void line(String text) {
        environment.out().println(text);
    }

    private void explain(String text) {
        environment.err().println("rcopy: " + TerminalText.of(text));
    }
}
