package io.rdma4j.tools.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/** The TCP sockets of this host, as Linux lists them. */
final class TcpTable {
    private TcpTable() {}

    /** Returns the number of TCP sockets with the given local port: listeners and connections. */
    static long sockets(int port) throws IOException {
        String local = String.format(Locale.ROOT, "^ *\\d+: [0-9A-F]+:%04X .*", port);
        try (Stream<String> four = Files.lines(Path.of("/proc/net/tcp"));
                Stream<String> six = Files.lines(Path.of("/proc/net/tcp6"))) {
            return Stream.concat(four, six).filter(line -> line.matches(local)).count();
        }
    }
}
