package io.rdma4j.tools.demo;

import io.rdma4j.tools.ToolProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** The part of the demonstration with the other tools: connections, datagrams, a multicast group, and streams. */
final class Family {
    private static final long GLANCE_MILLIS = 50;
    private static final long LISTEN_MILLIS = 300;
    private static final int TRIES = 20;

    /** Of udaddy. */
    private static final int DATAGRAM_PORT = 7174;

    /** How long a turn of another demonstration may take. */
    private static final long TURN_NANOS = Duration.ofSeconds(20).toNanos();

    /** What a client ends with that came before its server listened: rejected, or service unknown. */
    private static final List<Integer> TOO_EARLY = List.of(8, 1);

    /** Rounds of the streams: so many that Java has compiled most before the half; fewer where fewer pings are asked for. */
    private static final int MOST_ROUNDS = 20_000;

    private static final int MOST_ROUNDS_OF_PIECES = 5;
    private static final int ROUNDS_FOR_A_PING = 2;
    private static final int PINGS_FOR_A_ROUND_OF_PIECES = 2000;

    private final DemoOutput output;
    private final String address;
    private final List<String> latency;
    private final List<String> bandwidth;

    /** The tools at an address; the streams are short if the longer run has few pings. */
    Family(DemoOutput output, String address, int pings) {
        this.output = output;
        this.address = address;
        long rounds = Math.clamp((long) ROUNDS_FOR_A_PING * pings, 1, MOST_ROUNDS);
        latency = List.of("-S", "64", "-C", "1", "-I", String.valueOf(rounds));
        int roundsOfPieces = Math.clamp(pings / PINGS_FOR_A_ROUND_OF_PIECES, 1, MOST_ROUNDS_OF_PIECES);
        bandwidth = List.of("-S", "65536", "-C", "1000", "-I", String.valueOf(roundsOfPieces));
    }

    /** A process whose lines are kept. */
    private static final class Player implements AutoCloseable {
        final List<String> lines = Collections.synchronizedList(new ArrayList<>());
        final ToolProcess process;

        Player(DemoOutput output, List<String> words) {
            process = output.start(words, lines::add, lines::add);
        }

        boolean hasSaid(String beginning) {
            synchronized (lines) {
                return lines.stream().anyMatch(line -> line.startsWith(beginning));
            }
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /** Eight connections with messages both ways. */
    void connections(int number) throws DemoFailure, InterruptedException {
        String port = String.valueOf(ThreadLocalRandom.current().nextInt(20_000, 30_000));
        output.say(number + ". ucmatose: eight connections at a time, ten messages each way");
        pair(
                List.of("ucmatose", "-b", address, "-c", "8", "-p", port),
                List.of("ucmatose", "-s", address, "-c", "8", "-p", port),
                "cmatose: starting server");
    }

    /** Datagrams to a service. */
    void datagrams(int number) throws DemoFailure, InterruptedException {
        output.say(number + ". udaddy: datagrams to a service that the connection manager finds");
        String own = datagramAddress(address);
        try (ServerSocket turn = new ServerSocket()) {
            awaitTurn(turn, new InetSocketAddress(own, DATAGRAM_PORT));
            pair(List.of("udaddy", "-b", own), List.of("udaddy", "-s", own), "udaddy: starting server");
        } catch (IOException e) {
            throw new DemoFailure("no TCP socket can be opened or closed: " + e.getMessage());
        }
    }

    /**
     * Demonstrations of one address take turns: who has the port of udaddy in TCP may have it over RDMA. Does not wait for
     * ever, since any other program may have the port in TCP.
     */
    private void awaitTurn(ServerSocket turn, InetSocketAddress place) throws InterruptedException {
        long end = System.nanoTime() + TURN_NANOS;
        while (output.hasTime() && System.nanoTime() - end < 0) {
            try {
                turn.bind(place);
                return;
            } catch (IOException others) {
                Thread.sleep(GLANCE_MILLIS);
            }
        }
    }

    /** The port of udaddy is always the same: on loopback another address keeps demonstrations apart. */
    private static String datagramAddress(String address) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return address.startsWith("127.")
                ? "127." + random.nextInt(1, 255) + "." + random.nextInt(256) + "." + random.nextInt(1, 255)
                : address;
    }

    private void pair(List<String> serverWords, List<String> clientWords, String start)
            throws DemoFailure, InterruptedException {
        output.say("");
        output.say("   $ rdma4j " + String.join(" ", serverWords));
        output.say("   $ rdma4j " + String.join(" ", clientWords));
        output.say("");
        try (Player server = new Player(output, serverWords)) {
            await(server, start);
            Thread.sleep(LISTEN_MILLIS);
            Player client = new Player(output, clientWords);
            for (int tries = 0; tries < TRIES && isTooEarly(client); tries++) {
                client.close();
                client = new Player(output, clientWords);
            }
            try (Player last = client) {
                finish("client", last);
                finish("server", server);
            }
        }
        output.say("");
    }

    private boolean isTooEarly(Player client) throws InterruptedException {
        return TOO_EARLY.contains(client.process.await(output.remainingSeconds()));
    }

    /** One sender and two receivers of a multicast group. */
    void group(int number) throws DemoFailure, InterruptedException {
        if (address.equals("::1")) {
            output.say(number
                    + ". mckey: left out, because Linux delivers no IPv6 groups on loopback interfaces; -a with an"
                    + " IPv6 address of a network shows it");
            output.say("");
            return;
        }
        // Others of the network may show it, too.
        int member = ThreadLocalRandom.current().nextInt(1, 0x10000);
        String group = address.contains(":")
                ? "ff0e::77:" + Integer.toHexString(member)
                : "239.77." + (member >>> Byte.SIZE) + "." + (member & 0xff);
        List<String> words = List.of("mckey", "-m", group, "-b", address);
        List<String> sending = new ArrayList<>(words);
        sending.add("-s");
        output.say(number + ". mckey: one sender, two receivers of a multicast group");
        output.say("");
        output.say("   $ rdma4j " + String.join(" ", words) + "      (twice)");
        output.say("   $ rdma4j " + String.join(" ", sending));
        output.say("");
        try (Player first = new Player(output, words);
                Player second = new Player(output, words)) {
            await(first, "receiving data transfers");
            await(second, "receiving data transfers");
            try (Player sender = new Player(output, sending)) {
                finish("client", sender);
                finish("server", first);
                finish("server", second);
            }
        }
        output.say("");
    }

    /** The same bytes over RDMA sockets and over TCP. */
    void streams(int number) throws DemoFailure, InterruptedException {
        output.say(number + ". rstream: streams over RDMA sockets, and over TCP sockets to compare with");
        output.say("");
        output.say("   $ rdma4j rstream -b " + address + " " + String.join(" ", latency) + "      (-T s for TCP)");
        output.say("   $ rdma4j rstream -s " + address + " " + String.join(" ", latency));
        output.say("");
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT, "   %-14s%26s%32s", "", "64 bytes, one at a time", "64 KiB pieces, as many as go"));
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
        lines.forEach(output::say);
        output.say("");
        output.say("   TCP has the kernel of this one host to itself; RDMA sockets speak RoCEv2 as they do between"
                + " hosts.");
        output.say("   Averages from the first byte on: both processes start cold, and Java compiles meanwhile.");
        output.say("");
    }

    /** Runs a test between two processes; the fields of the client's row. */
    private List<String> stream(boolean tcp, List<String> test) throws DemoFailure, InterruptedException {
        List<String> words = new ArrayList<>(List.of("rstream", "-T", "b"));
        words.addAll(List.of("-p", String.valueOf(ThreadLocalRandom.current().nextInt(20_000, 30_000))));
        words.addAll(tcp ? List.of("-T", "s") : List.of());
        words.addAll(test);
        List<String> serving = new ArrayList<>(words);
        serving.addAll(List.of("-b", address));
        words.addAll(List.of("-s", address));
        try (Player server = new Player(output, serving)) {
            await(server, "name ");
            try (Player client = new Player(output, words)) {
                require("client", client, server);
                require("server", server, client);
                return List.of(client.lines.getLast().strip().split("\\s+", -1));
            }
        }
    }

    private void await(Player player, String beginning) throws DemoFailure, InterruptedException {
        long end = System.nanoTime() + output.remainingSeconds() * 1_000_000_000L;
        while (!player.hasSaid(beginning)) {
            if (!player.process.isAlive() || System.nanoTime() - end > 0) {
                finish("server", player);
                throw new DemoFailure("a process did not say '" + beginning + "' in time; is this machine very busy?");
            }
            Thread.sleep(GLANCE_MILLIS);
        }
    }

    /** Waits for a process, shows its lines, and looks at its end. */
    private void finish(String who, Player player) throws DemoFailure, InterruptedException {
        int status = player.process.await(output.remainingSeconds());
        show(who, player);
        judge(who, status);
    }

    /** The same, but shows its lines only if it has failed, and first what the other one has said, which may tell why. */
    private void require(String who, Player player, Player other) throws DemoFailure, InterruptedException {
        int status = player.process.await(output.remainingSeconds());
        if (status != 0) {
            show(who.equals("client") ? "server" : "client", other);
            show(who, player);
        }
        judge(who, status);
    }

    private void show(String who, Player player) {
        synchronized (player.lines) {
            player.lines.forEach(line -> output.line(who, line));
        }
    }

    private static void judge(String who, int status) throws DemoFailure {
        if (status != 0) {
            throw new DemoFailure(
                    status == -1
                            ? "the " + who
                                    + " did not end in time; is this machine very busy, or UDP port 4791 blocked?"
                            : "the " + who + " ended with status " + status + "; the lines above say why");
        }
    }
}
