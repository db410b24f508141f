package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** TCP sockets, as the kernel lists them. */
public final class TcpSockets {
    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");
    private static final String LISTENING = "0A";
    private static final List<String> TABLES = List.of("tcp", "tcp6");
    private static final int ADDRESS_COLUMN = 1;
    private static final int STATE_COLUMN = 3;
    private static final int INODE_COLUMN = 9;

    private TcpSockets() {}

    /** Returns the number of TCP sockets of a process that are not listening. */
    public static int connectionsOf(long pid) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        Set<String> inodes = inodes(process.resolve("fd"));
        int count = 0;
        for (String table : TABLES) {
            for (String line : linesOf(process.resolve("net").resolve(table))) {
                String[] columns = line.strip().split("\\s+", -1);
                if (!columns[STATE_COLUMN].equals(LISTENING) && inodes.contains(columns[INODE_COLUMN])) {
                    count++;
                }
            }
        }
        return count;
    }

    /** Returns whether a process of this host listens on a port at any address. */
    public static boolean isListening(int port) throws IOException {
        String suffix = ":%04X".formatted(port);
        for (String table : TABLES) {
            for (String line : linesOf(Path.of("/proc/net", table))) {
                String[] columns = line.strip().split("\\s+", -1);
                if (columns[STATE_COLUMN].equals(LISTENING) && columns[ADDRESS_COLUMN].endsWith(suffix)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the lines of a table after its header line; none if the kernel has no IPv6. */
    private static List<String> linesOf(Path table) throws IOException {
        try {
            List<String> lines = Files.readAllLines(table);
            return lines.subList(1, lines.size());
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    private static Set<String> inodes(Path descriptors) throws IOException {
        Set<String> inodes = new HashSet<>();
        try (Stream<Path> all = Files.list(descriptors)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Matcher socket = SOCKET.matcher(target(each));
                if (socket.matches()) {
                    inodes.add(socket.group(1));
                }
            }
        }
        return inodes;
    }

    private static String target(Path descriptor) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (NoSuchFileException e) {
            return ""; // closed meanwhile
        }
    }
}
