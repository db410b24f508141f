package io.rdma4j.programs;

import io.rdma4j.programs.peer.PeerMain;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A program of others.
 *
 * @param name its name in options and in the table
 * @param title the name of the program and of the part that is used
 * @param artifact the artifact whose version is pinned, or null for the JDK
 * @param exchange one operation
 * @param server how its server is started
 */
record Program(String name, String title, @Nullable String artifact, String exchange, Server server) {
    /** The class path of the processes: that of the run, without the modules of this project that the run itself uses. */
    private static final String CLASS_PATH = Arrays.stream(
                    System.getProperty("java.class.path", ".").split(File.pathSeparator, -1))
            .filter(entry -> !Files.isDirectory(Path.of(entry, "io/rdma4j/harness")))
            .filter(entry -> !new File(entry).getName().startsWith("rdma4j-"))
            .collect(Collectors.joining(File.pathSeparator));

    /** How a server is started, and which line of its output says that it listens. */
    interface Server {
        /** Returns the arguments of Java. */
        List<String> words(Program program, int port, Path folder);

        /** Returns the beginning of the line. */
        String readyLine();
    }

    /** A server in a process of this project that knows the program's API alone. */
    enum PeerServer implements Server {
        INSTANCE;

        @Override
        public List<String> words(Program program, int port, Path folder) {
            return program.java("serve", Integer.toString(port), folder.toString());
        }

        @Override
        public String readyLine() {
            return PeerMain.MARK + "ready";
        }
    }

    /** The server of the JDK's module, which has a main class of its own. */
    enum ModuleServer implements Server {
        INSTANCE;

        @Override
        public List<String> words(Program program, int port, Path folder) {
            return List.of(
                    "-m", "jdk.httpserver", "-b", "127.0.0.1", "-p", Integer.toString(port), "-d", folder.toString());
        }

        @Override
        public String readyLine() {
            return "URL ";
        }
    }

    /** Returns the arguments of Java for a client. */
    List<String> client(int port, Pace pace) {
        return java(
                "drive",
                Integer.toString(port),
                Long.toString(pace.warmUpMillis()),
                Long.toString(pace.measureMillis()));
    }

    private List<String> java(String role, String... words) {
        List<String> all = new ArrayList<>(List.of(
                "-Xmx512m",
                // The native transport of the Netty inside gRPC is no Java socket; this is Netty's own option.
                "-Dio.grpc.netty.shaded.io.netty.transport.noNative=true",
                "-cp",
                CLASS_PATH,
                PeerMain.class.getName(),
                role,
                name));
        all.addAll(List.of(words));
        return all;
    }

    /** Returns the version, from the name of the file on the class path. */
    String version() {
        if (artifact == null) {
            return Runtime.version().toString();
        }
        Pattern file = Pattern.compile(".*[/\\\\]" + Pattern.quote(artifact) + "-(\\d.*)\\.jar");
        for (String entry : System.getProperty("java.class.path", "").split(File.pathSeparator, -1)) {
            var found = file.matcher(entry);
            if (found.matches()) {
                return found.group(1);
            }
        }
        throw new IllegalStateException("the class path has no " + artifact);
    }
}
