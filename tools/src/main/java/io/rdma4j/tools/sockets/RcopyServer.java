package io.rdma4j.tools.sockets;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.Errno;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The server of rcopy: writes the files that clients send, one client after the other, until the process is ended. */
final class RcopyServer {
    private static final int SUCCESS = 0;

    /** The connection is to be dropped. */
    private static final int DROP = -1;

    private final ToolEnvironment environment;
    private @Nullable FileChannel file;
    private long files;
    private long bytes;

    RcopyServer(ToolEnvironment environment) {
        this.environment = environment;
    }

    /** Serves; the exit status, if it could not begin. */
    int run(int port) throws StreamFailure {
        try (RdmaStreamSocket listener = listen(port)) {
            Runnable atInterrupt = listener::close;
            environment.onInterrupt(atInterrupt);
            tellTotals();
            while (true) {
                print("waiting for connection...");
                RdmaStreamSocket socket;
                try {
                    socket = Objects.requireNonNull(listener.accept());
                } catch (IOException ended) {
                    return SUCCESS;
                }
                serve(socket);
                tellTotals();
            }
        }
    }

    private void tellTotals() {
        environment.report().result("files", files).result("bytes", bytes);
    }

    private RdmaStreamSocket listen(int port) throws StreamFailure {
        RdmaStreamSocket listener = Rcopy.open(environment);
        String step = "rsetsockopt failed";
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            step = "rbind failed";
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), port));
            step = "rlisten failed";
            listener.listen(1);
            return listener;
        } catch (IOException e) {
            listener.close();
            throw Rcopy.failure(environment, step, e);
        }
    }

    private void serve(RdmaStreamSocket socket) {
        InetSocketAddress peer = socket.peerAddress();
        String text = peer == null ? "" : AddressText.of(peer.getAddress());
        int scope = text.indexOf('%');
        line("client: " + (scope < 0 ? text : text.substring(0, scope)));
        try (RcopyConnection connection = new RcopyConnection(socket)) {
            while (serveMessage(connection) == SUCCESS) {
                // Until the client ends, or cannot be understood.
            }
        } catch (IOException lost) {
            explain(lost.getMessage() + ": the client has gone");
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
                answer(connection, message, Errno.EINVAL.number());
                yield DROP;
            }
        };
    }

    private static void answer(RcopyConnection connection, RcopyMessage message, int errorNumber) throws IOException {
        connection.send(message.response(errorNumber).toBuffer().flip());
    }

    private int open(RcopyConnection connection, RcopyMessage message) throws IOException {
        print("opening: ");
        int status = open(connection.receive(message.lengthBytes() - RcopyMessage.HEADER_BYTES), message.data());
        answer(connection, message, status);
        return status;
    }

    private int open(@Nullable ByteBuffer path, int mode) {
        if (file != null) {
            line("cannot open another file");
            return Errno.EBUSY.number();
        }
        if (path == null) {
            line("error receiving path");
            return Errno.EIO.number();
        }
        String text = textOf(path);
        print(text + ", ");
        try {
            file = RcopyFiles.create(Path.of(text), mode);
            return SUCCESS;
        } catch (IOException | IllegalArgumentException e) {
            line("unable to open destination file");
            explain(String.valueOf(e));
            return RcopyFiles.errorNumber(e);
        }
    }

    /** Up to the first zero. */
    private static String textOf(ByteBuffer path) {
        byte[] bytes = new byte[path.remaining()];
        path.get(bytes);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private int write(RcopyConnection connection, RcopyMessage message) throws IOException {
        print("transferring");
        int status = writeFile(connection, message.lengthBytes());
        answer(connection, message, status);
        return status;
    }

    private int writeFile(RcopyConnection connection, int lengthBytes) throws IOException {
        FileChannel target = file;
        if (target == null) {
            line("...file not opened");
            return Errno.EINVAL.number();
        }
        if (lengthBytes != RcopyMessage.HEADER_BYTES + RcopyMessage.SIZE_BYTES) {
            line("...invalid message length " + lengthBytes);
            return Errno.EINVAL.number();
        }
        ByteBuffer size = connection.receive(RcopyMessage.SIZE_BYTES);
        if (size == null) {
            return Errno.EIO.number();
        }
        long expected = size.order(ByteOrder.nativeOrder()).getLong();
        print("..." + expected + " bytes...");
        try {
            long received = connection.receiveInto(target, expected);
            if (received == expected) {
                files++;
                bytes += expected;
                return SUCCESS;
            }
            line("...error receiving data");
            return Errno.EIO.number();
        } catch (IOException e) {
            line("...error writing file");
            explain(String.valueOf(e.getMessage()));
            return RcopyFiles.errorNumber(e);
        }
    }

    private int close(RcopyConnection connection, RcopyMessage message) throws IOException {
        print("closing...");
        closeFile();
        answer(connection, message, SUCCESS);
        line("done");
        return SUCCESS;
    }

    private void closeFile() {
        FileChannel open = file;
        file = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                explain("the file could not be closed: " + e.getMessage());
            }
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
        environment.err().println("rcopy: " + text);
    }
}
