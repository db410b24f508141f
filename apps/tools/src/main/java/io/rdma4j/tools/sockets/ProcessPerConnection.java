package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.TerminalText;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;
import java.nio.channels.Channel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A process for each connection, like {@code fork} in C. Java cannot fork, but a process that it starts inherits its
 * standard input, which may be a socket ({@link System#inheritedChannel}). The connection therefore replaces standard
 * input while the process starts. Linux only: the socket's descriptor is looked up in {@code /proc}.
 */
final class ProcessPerConnection {
    /** The environment variable that marks standard input as a connection and names its phase. */
    private static final String PHASE_VARIABLE = "RDMA4J_RSTREAM_PHASE";

    /** The prefix of the line that reports the duration of a test. */
    private static final String MEASURED = "rdma4j-rstream-measured-micros ";

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int INODE_COLUMN = 9;
    private static final int LOCAL_COLUMN = 1;
    private static final int REMOTE_COLUMN = 2;

    private ProcessPerConnection() {}

    /**
     * Returns the phase of the connection on standard input, or null if there is no connection.
     *
     * @throws IOException if the variable was not set by {@link #start}
     */
    static StreamRun.@Nullable Phase inheritedPhase() throws IOException {
        String phase = System.getenv(PHASE_VARIABLE);
        if (phase == null) {
            return null;
        }
        return Arrays.stream(StreamRun.Phase.values())
                .filter(each -> each.name().equals(phase))
                .findFirst()
                .orElseThrow(() -> new IOException(PHASE_VARIABLE + "=" + TerminalText.of(phase)
                        + " is set in the environment; only rstream sets it, for the processes of -T f: unset it"));
    }

    /** Returns the connection on standard input. */
    static SocketChannel inherited() throws IOException {
        Channel channel = System.inheritedChannel();
        if (channel instanceof SocketChannel socket) {
            return socket;
        }
        throw new IOException("standard input is not a connection");
    }

    /** Returns the line that reports the duration of the next test. */
    static String measuredLine(long micros) {
        return MEASURED + micros;
    }

    /** Parses a line of {@link #measuredLine}. Returns empty for any other line. */
    static OptionalLong measured(String line) {
        return line.startsWith(MEASURED)
                ? OptionalLong.of(Long.parseLong(line.substring(MEASURED.length())))
                : OptionalLong.empty();
    }

    /**
     * Starts a tool with a connection as its standard input.
     *
     * @param words the name of the tool and its arguments
     * @param connection the connection that the process serves; the caller must close it afterwards
     */
    static synchronized ToolProcess start(
            List<String> words,
            SocketChannel connection,
            StreamRun.Phase phase,
            Consumer<String> onOutput,
            Consumer<String> onError)
            throws IOException {
        int descriptor = descriptorOf(connection);
        int standardInput = Native.duplicate(0);
        Native.replace(descriptor, 0);
        try {
            return ToolProcess.startWithInput(words, Map.of(PHASE_VARIABLE, phase.name()), onOutput, onError);
        } finally {
            Native.replace(standardInput, 0);
            Native.close(standardInput);
        }
    }

    /** Returns the descriptor of a connection. The kernel's table maps its ports to the inode of the socket. */
    private static int descriptorOf(SocketChannel connection) throws IOException {
        InetSocketAddress local = (InetSocketAddress) connection.getLocalAddress();
        InetSocketAddress remote = (InetSocketAddress) connection.getRemoteAddress();
        String inode = inodeOf(local.getPort(), remote.getPort())
                .orElseThrow(() -> new IOException("/proc/net/tcp does not list the connection"));
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path each : descriptors) {
                if (target(each).equals("socket:[" + inode + "]")) {
                    return Integer.parseInt(each.getFileName().toString());
                }
            }
        }
        throw new IOException("/proc/self/fd does not list the connection");
    }

    private static String target(Path descriptor) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (NoSuchFileException closed) {
            return ""; // such as the descriptor that reads the directory
        }
    }

    private static Optional<String> inodeOf(int localPort, int remotePort) throws IOException {
        String local = String.format(Locale.ROOT, ":%04X", localPort);
        String remote = String.format(Locale.ROOT, ":%04X", remotePort);
        for (String table : List.of("tcp", "tcp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/net", table))) {
                String[] columns = line.strip().split("\\s+", -1);
                if (columns.length > INODE_COLUMN
                        && columns[LOCAL_COLUMN].endsWith(local)
                        && columns[REMOTE_COLUMN].endsWith(remote)) {
                    return Optional.of(columns[INODE_COLUMN]);
                }
            }
        }
        return Optional.empty();
    }

    /** The C library functions that change file descriptors. */
    private static final class Native {
        private static final MethodHandle DUP = handle("dup", 1);
        private static final MethodHandle DUP2 = handle("dup2", 2);
        private static final MethodHandle CLOSE = handle("close", 1);

        private Native() {}

        @SuppressWarnings("restricted")
        private static MethodHandle handle(String name, int arguments) {
            Linker linker = Linker.nativeLinker();
            FunctionDescriptor type = arguments == 1
                    ? FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)
                    : FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
        }

        static int duplicate(int descriptor) throws IOException {
            return call("dup", () -> (int) DUP.invokeExact(descriptor));
        }

        static void replace(int from, int to) throws IOException {
            call("dup2", () -> (int) DUP2.invokeExact(from, to));
        }

        static void close(int descriptor) throws IOException {
            call("close", () -> (int) CLOSE.invokeExact(descriptor));
        }

        private interface Call {
            int run() throws Throwable;
        }

        private static int call(String name, Call call) throws IOException {
            int result;
            try {
                result = call.run();
            } catch (Throwable e) {
                throw new IOException(name + " cannot be called", e);
            }
            if (result < 0) {
                throw new IOException(name + " failed");
            }
            return result;
        }
    }
}
