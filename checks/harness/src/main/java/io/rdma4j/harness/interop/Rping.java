package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.Case.Extent;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** rping: pings whose bytes are all compared. */
final class Rping {
    /** The port of rping, which cases without rping use as well. */
    static final int PORT = 7174;

    /** The size of pings without -S. */
    static final int SIZE = 64;

    private static final String SERVER_PREFIX = "server ping data: ";
    private static final String CLIENT_PREFIX = "ping data: ";

    /**
     * The lines that a client or server prints to standard error when it ends as expected. With Linux 6.12 the time-wait of a
     * connection may end before its process does, which rping reports as C's does.
     */
    private static final Set<String> GOOD_ENDS = Set.of(
            "server DISCONNECT EVENT...",
            "client DISCONNECT EVENT...",
            "wait for RDMA_READ_ADV state 10",
            "unhandled event: RDMA_CM_EVENT_TIMEWAIT_EXIT, ignoring",
            "");

    private Rping() {}

    static void define(InteropCases cases) {
        for (Roles roles : Roles.JAVA_AND_C) {
            for (Family family : List.of(Family.V4, Family.V6)) {
                for (int size : List.of(64, 23, 1000, 4096, 65535)) {
                    int count = size == 65535 ? 4 : 10;
                    Extent extent = size == (family == Family.V4 ? 65535 : 64) ? QUICK : FULL;
                    cases.add(
                            "size/" + family + "/" + size,
                            roles,
                            count + " pings",
                            extent,
                            30,
                            pings(family, size, count));
                }
            }
            cases.add("linklocal", roles, "3 pings", QUICK, 30, pings(Family.LL, SIZE, 3));
            cases.add("option-q", roles, "3 pings", FULL, 30, pings(Family.V4, SIZE, 3, "-q"));
            cases.add("option-d", roles, "3 pings", FULL, 30, pings(Family.V4, SIZE, 3, "-d"));
        }
    }

    // ---- the tool

    /** Starts a server and waits until it listens, at the address after -a if that is one of the options. */
    static RunningProcess serve(InteropStage stage, String label, Side side, int port, String... options)
            throws CaseFailure, IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("-s", "-p", Integer.toString(port)));
        words.addAll(List.of(options));
        RunningProcess server = stage.start(label, side, "rping", words);
        int address = words.indexOf("-a") + 1;
        stage.awaitListener(server, side, port, address == 0 ? "" : words.get(address));
        return server;
    }

    /** Starts the server of a case at an address of its side. */
    static RunningProcess serve(InteropStage stage, Family family, String... options)
            throws CaseFailure, IOException, InterruptedException {
        return serve(
                stage, "server", stage.server, PORT, with(List.of("-a", stage.address(stage.server, family)), options));
    }

    private static String[] with(List<String> words, String... more) {
        return Stream.concat(words.stream(), Stream.of(more)).toArray(String[]::new);
    }

    /** Starts a client of the case's server, which compares every byte. */
    static RunningProcess connect(InteropStage stage, String label, Family family, String... options)
            throws IOException, InterruptedException {
        return connect(stage, label, family, PORT, options);
    }

    static RunningProcess connect(InteropStage stage, String label, Family family, int port, String... options)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("-c", "-a", stage.serverAddress(family)));
        words.addAll(List.of("-p", Integer.toString(port), "-v", "-V"));
        words.addAll(List.of(options));
        return stage.start(label, stage.client, "rping", words);
    }

    // ---- cases

    /** One server and one client. Both must exit with 0 and print exactly the right bytes. */
    static InteropCases.Body pings(Family family, int size, int count, String... options) {
        return stage -> {
            List<String> both = new ArrayList<>(List.of("-S", Integer.toString(size)));
            both.addAll(List.of(options));
            RunningProcess server = serve(stage, family, with(both, "-v"));
            String[] ofClient = with(both, "-C", Integer.toString(count));
            requirePair(server, connect(stage, "client", family, ofClient), size, count);
        };
    }

    /** Waits for a client and its server to end, and requires that both have printed exactly the right pings. */
    static void requirePair(RunningProcess server, RunningProcess client, int size, int count)
            throws CaseFailure, IOException, InterruptedException {
        int status = client.awaitEnd();
        if (!server.endsWithin(Duration.ofSeconds(status == 0 ? 15 : 3))) {
            server.signal("INT"); // so that it prints what it knows
            var _ = server.endsWithin(Duration.ofSeconds(5));
            client.requireSuccess();
            throw new CaseFailure("the server did not end after its client");
        }
        client.requireSuccess();
        requireClientPings(client, size, count);
        requireNoComplaint(client);
        server.requireSuccess();
        requireServerPings(server, size, count);
        server.requireComplains("^server DISCONNECT EVENT\\.\\.\\.$");
        requireNoComplaint(server);
    }

    // ---- expectations

    /** Returns the number of pings that a process has printed so far. */
    static long count(RunningProcess process) {
        return process.out()
                .lines()
                .filter(line -> line.contains(CLIENT_PREFIX))
                .count();
    }

    /** Requires that a client has printed every byte of a number of pings. */
    static void requireClientPings(RunningProcess client, int size, int count) throws CaseFailure {
        requirePings(client, CLIENT_PREFIX, size, count);
    }

    /** Requires that a server has printed every byte of a number of pings. */
    static void requireServerPings(RunningProcess server, int size, int count) throws CaseFailure {
        requirePings(server, SERVER_PREFIX, size, count);
    }

    private static void requirePings(RunningProcess process, String prefix, int size, int count) throws CaseFailure {
        List<String> printed =
                process.out().lines().filter(line -> line.startsWith(prefix)).toList();
        Stage.require(
                printed.equals(pingLines(prefix, size, count)),
                "the " + process.label() + " printed " + printed.size() + " pings, not the right bytes of " + count);
    }

    /** Returns the lines that rping -v prints. */
    static List<String> pingLines(String prefix, int size, int count) {
        String alphabet = IntStream.rangeClosed('A', 'z')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        String cycle = alphabet.repeat(size / alphabet.length() + 2);
        return IntStream.range(0, count)
                .mapToObj(ping -> "rdma-ping-" + ping + ": " + cycle.substring(ping % alphabet.length()))
                .map(text -> prefix + text.substring(0, size - 1))
                .toList();
    }

    /** Requires that a process has printed nothing to standard error but the lines of a good end. */
    static void requireNoComplaint(RunningProcess process) throws CaseFailure {
        List<String> lines = process.err()
                .lines()
                .filter(line -> !GOOD_ENDS.contains(line))
                .limit(3)
                .toList();
        Stage.require(lines.isEmpty(), "the " + process.label() + " complained: " + String.join(" ", lines));
    }
}
