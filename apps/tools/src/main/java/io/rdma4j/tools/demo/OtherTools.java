package io.rdma4j.tools.demo;

import io.rdma4j.tools.command.SharedMemoryCheck;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** The second part of the demonstration: connections, datagrams, a multicast group and streams. */
final class OtherTools {
    /** The time that a server needs to warm up. */
    private static final long WARM_UP_MILLIS = 3_200;

    private static final long POLL_MILLIS = 50;
    private static final long LISTEN_MILLIS = 300;
    private static final int TRIES = 20;

    /** The fixed port of udaddy. */
    private static final int DATAGRAM_PORT = 7174;

    /** The maximum time to wait for other demonstrations. */
    private static final long TURN_NANOS = Duration.ofSeconds(20).toNanos();

    /** Exit statuses of a client that connected before its server listened: rejected, or service unknown. */
    private static final List<Integer> TOO_EARLY = List.of(8, 1);

    /** The maximum number of rounds of the streams. Java compiles most of the code in the first half of them. */
    private static final int MAX_ROUNDS = 20_000;

    private static final int MAX_ROUNDS_OF_PIECES = 5;
    private static final int ROUNDS_FOR_A_PING = 2;
    private static final int PINGS_FOR_A_ROUND_OF_PIECES = 2000;

    private final DemoOutput output;
    private final String address;
    private final boolean warmsUp;
    private final List<String> latency;
    private final List<String> bandwidth;

    /**
     * Creates the demonstration of the tools at an address.
     *
     * @param pings the number of pings of the longer run: the streams are short if it is small
     * @param warmsUp true if the streams warm up before they measure
     */
    OtherTools(DemoOutput output, String address, int pings, boolean warmsUp) {
        this.output = output;
        this.address = address;
        this.warmsUp = warmsUp;
        long rounds = Math.clamp((long) ROUNDS_FOR_A_PING * pings, 1, MAX_ROUNDS);
        latency = List.of("-S", "64", "-C", "1", "-I", String.valueOf(rounds));
        int roundsOfPieces = Math.clamp(pings / PINGS_FOR_A_ROUND_OF_PIECES, 1, MAX_ROUNDS_OF_PIECES);
        bandwidth = List.of("-S", "65536", "-C", "1000", "-I", String.valueOf(roundsOfPieces));
    }

    /** A process whose output lines are collected. */
    private static final class DemoProcess implements AutoCloseable {
        final List<String> lines = Collections.synchronizedList(new ArrayList<>());
        final ToolProcess process;

        DemoProcess(DemoOutput output, List<String> words) {
            process = output.start(words, lines::add, lines::add);
        }

        boolean hasPrinted(String beginning) {
            synchronized (lines) {
                return lines.stream().anyMatch(line -> line.startsWith(beginning));
            }
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /** Runs eight connections with messages in both directions. */
    void connections(int number) throws DemoFailure, InterruptedException {
        String port = String.valueOf(ThreadLocalRandom.current().nextInt(20_000, 30_000));
        output.print(number + ". ucmatose: eight connections at a time, ten messages each way");
        pair(
                List.of("ucmatose", "-b", address, "-c", "8", "-p", port),
                List.of("ucmatose", "-s", address, "-c", "8", "-p", port),
                "cmatose: starting server");
    }

    /** Exchanges datagrams with a service. */
    void datagrams(int number) throws DemoFailure, InterruptedException {
        output.print(number + ". udaddy: datagrams to a service, resolved by the connection manager");
        String serviceAddress = datagramAddress(address);
        try (ServerSocket turn = new ServerSocket()) {
            awaitTurn(turn, new InetSocketAddress(serviceAddress, DATAGRAM_PORT));
            pair(
                    List.of("udaddy", "-b", serviceAddress),
                    List.of("udaddy", "-s", serviceAddress),
                    "udaddy: starting server");
        } catch (IOException e) {
            throw new DemoFailure("no TCP socket can be opened or closed: " + e.getMessage());
        }
    }

    /**
     * Waits until no other demonstration uses this address. The process that has bound udaddy's port for TCP may use it
     * for RDMA. The wait is limited, because any other program may hold the TCP port.
     */
    private void awaitTurn(ServerSocket turn, InetSocketAddress service) throws InterruptedException {
        long end = System.nanoTime() + TURN_NANOS;
        while (output.hasTime() && System.nanoTime() - end < 0) {
            try {
                turn.bind(service);
                return;
            } catch (IOException inUse) {
                Thread.sleep(POLL_MILLIS);
            }
        }
    }

    /** Returns the address for udaddy. Its port is fixed, so on loopback a random address separates demonstrations. */
    private static String datagramAddress(String address) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return address.startsWith("127.")
                ? "127." + random.nextInt(1, 255) + "." + random.nextInt(256) + "." + random.nextInt(1, 255)
                : address;
    }

    private void pair(List<String> serverWords, List<String> clientWords, String start)
            throws DemoFailure, InterruptedException {
        output.print("");
        output.print("   $ rdma4j " + String.join(" ", serverWords));
        output.print("   $ rdma4j " + String.join(" ", clientWords));
        output.print("");
        for (int tries = 1; !hasRun(serverWords, clientWords, start, tries == TRIES); tries++) {}
        output.print("");
    }

    /**
     * Runs a server and a client. Returns false if the client connected before its server listened. The server must
     * then be started again with the next client, because it may have accepted some of the connections.
     */
    private boolean hasRun(List<String> serverWords, List<String> clientWords, String start, boolean isLast)
            throws DemoFailure, InterruptedException {
        try (DemoProcess server = new DemoProcess(output, serverWords)) {
            await(server, start);
            Thread.sleep(LISTEN_MILLIS);
            try (DemoProcess client = new DemoProcess(output, clientWords)) {
                if (!isLast && isTooEarly(client)) {
                    return false;
                }
                finish("client", client);
                finish("server", server);
                return true;
            }
        }
    }

    private boolean isTooEarly(DemoProcess client) throws InterruptedException {
        return TOO_EARLY.contains(client.process.await(output.remainingSeconds()));
    }

    /** Runs one sender and two receivers of a multicast group. */
    void group(int number) throws DemoFailure, InterruptedException {
        if (address.equals("::1")) {
            output.print(number
                    + ". mckey: left out, because Linux delivers no IPv6 groups on loopback interfaces; to see it, use"
                    + " -a with an IPv6 address of a network interface");
            output.print("");
            return;
        }
        // A random group, because other hosts on the network may also run the demonstration.
        int member = ThreadLocalRandom.current().nextInt(1, 0x10000);
        String group = address.contains(":")
                ? "ff0e::77:" + Integer.toHexString(member)
                : "239.77." + (member >>> Byte.SIZE) + "." + (member & 0xff);
        List<String> words = List.of("mckey", "-m", group, "-b", address);
        List<String> sending = new ArrayList<>(words);
        sending.add("-s");
        output.print(number + ". mckey: one sender, two receivers of a multicast group");
        output.print("");
        output.print("   $ rdma4j " + String.join(" ", words) + "      (twice)");
        output.print("   $ rdma4j " + String.join(" ", sending));
        output.print("");
        try (DemoProcess first = new DemoProcess(output, words);
                DemoProcess second = new DemoProcess(output, words)) {
            await(first, "receiving data transfers");
            await(second, "receiving data transfers");
            try (DemoProcess sender = new DemoProcess(output, sending)) {
                finish("client", sender);
                finish("server", first);
                finish("server", second);
            }
        }
        output.print("");
    }

    /** Sends the same data over RDMA sockets and over TCP. */
    void streams(int number) throws DemoFailure, InterruptedException {
        output.print(number + ". rstream: streams over RDMA sockets, and over TCP sockets to compare with");
        output.print("");
        output.print("   $ rdma4j rstream -b " + address + " " + String.join(" ", latency) + "      (-T s for TCP)");
        output.print("   $ rdma4j rstream -s " + address + " " + String.join(" ", latency));
        output.print("");
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT, "   %-14s%26s%32s", "", "64 bytes, one at a time", "64 KiB pieces, pipelined"));
        for (boolean tcp : new boolean[] {false, true}) {
            String micros = stream(tcp, latency).getLast();
            List<String> row = stream(tcp, bandwidth);
            lines.add(String.format(
                    Locale.ROOT,
                    "   %-14s%23s us%27s Gb/s",
                    tcp ? "TCP sockets" : "RDMA sockets",
                    micros,
                    row.get(row.size() - 2)));
        }
        lines.forEach(output::print);
        output.print("");
        output.print(
                SharedMemoryCheck.obstacle().isEmpty()
                        ? "   RDMA sockets exchange packets as over a network, here through memory that both processes share."
                        : "   TCP stays within the kernel of this host; RDMA sockets use RoCEv2 packets as between hosts.");
        if (warmsUp) {
            output.print(
                    "   Both sides warm up for three seconds before each measurement. With RDMA sockets, which have more code to");
            output.print("   compile, the server warms up before its client starts.");
        }
        output.print("");
    }

    /** Runs a test between two processes, and returns the fields of the client's row. */
    private List<String> stream(boolean tcp, List<String> test) throws DemoFailure, InterruptedException {
        List<String> words = new ArrayList<>(List.of("rstream", "-T", "b"));
        words.addAll(List.of("-p", String.valueOf(ThreadLocalRandom.current().nextInt(20_000, 30_000))));
        words.addAll(tcp ? List.of("-T", "s") : List.of());
        words.addAll(warmsUp ? List.of() : List.of("--no-warm-up"));
        words.addAll(test);
        List<String> serverWords = new ArrayList<>(words);
        serverWords.addAll(List.of("-b", address));
        words.addAll(List.of("-s", address));
        try (DemoProcess server = new DemoProcess(output, serverWords)) {
            await(server, "name ");
            if (!tcp && warmsUp) {
                Thread.sleep(WARM_UP_MILLIS);
            }
            try (DemoProcess client = new DemoProcess(output, words)) {
                require("client", client, server);
                require("server", server, client);
                return List.of(client.lines.getLast().strip().split("\\s+", -1));
            }
        }
    }

    private void await(DemoProcess tool, String beginning) throws DemoFailure, InterruptedException {
        long end = System.nanoTime() + output.remainingSeconds() * 1_000_000_000L;
        while (!tool.hasPrinted(beginning)) {
            if (!tool.process.isAlive() || System.nanoTime() - end > 0) {
                finish("server", tool);
                throw new DemoFailure(
                        "a process did not print '" + beginning + "' in time; is this machine very busy?");
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** Waits for a process, prints its lines, and checks its exit status. */
    private void finish(String role, DemoProcess tool) throws DemoFailure, InterruptedException {
        int status = tool.process.await(output.remainingSeconds());
        show(role, tool);
        requireSuccess(role, status);
    }

    /** Waits for a process and checks its exit status. On failure, it prints the lines of both processes. */
    private void require(String role, DemoProcess tool, DemoProcess other) throws DemoFailure, InterruptedException {
        int status = tool.process.await(output.remainingSeconds());
        if (status != 0) {
            show(role.equals("client") ? "server" : "client", other);
            show(role, tool);
        }
        requireSuccess(role, status);
    }

    private void show(String role, DemoProcess tool) {
        synchronized (tool.lines) {
            tool.lines.forEach(line -> output.line(role, line));
        }
    }

    private static void requireSuccess(String role, int status) throws DemoFailure {
        if (status != 0) {
            throw new DemoFailure(
                    status == -1
                            ? "the " + role
                                    + " did not end in time; is this machine very busy, or UDP port 4791 blocked?"
                            : "the " + role + " ended with status " + status + "; the lines above say why");
        }
    }
}
