package io.rdma4j.programs.peer;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A process of a program: {@code PeerMain serve NAME PORT FOLDER}, or {@code PeerMain drive NAME PORT WARM_UP_MILLIS
 * MILLIS}.
 *
 * <p>A server prints {@code ready}, and ends with its standard input. A client prints {@code rate OPERATIONS_PER_SECOND}.
 * When it reads the line {@code loop}, it prints {@code looping}, and exchanges until an exchange fails. Then it prints
 * {@code failed REASON}. These lines begin with {@link #MARK}, because programs print lines of their own.
 */
public final class PeerMain {
    /** The beginning of the lines for the process that started this one. */
    public static final String MARK = "@@ ";

    private static final long CONNECT_NANOS = 60_000_000_000L;
    private static final long RETRY_MILLIS = 100;

    private final PrintStream lines = System.out;

    private PeerMain() {}

    /** Runs one process. */
    public static void main(String[] words) throws Exception {
        PeerMain main = new PeerMain();
        // Programs print on standard output; their lines must not be between those of this class.
        System.setOut(System.err);
        Peer peer = Peers.named(words[1]);
        int port = Integer.parseInt(words[2]);
        if (words[0].equals("serve")) {
            main.serve((ServingPeer) peer, port, Path.of(words[3]));
        } else {
            main.drive(peer, port, Long.parseLong(words[3]), Long.parseLong(words[4]));
        }
        Runtime.getRuntime().halt(0); // threads of the program may keep the process alive
    }

    private void print(String line) {
        lines.println(MARK + line);
        lines.flush();
    }

    private void serve(ServingPeer peer, int port, Path folder) throws Exception {
        peer.serve(port, folder);
        print("ready");
        while (System.in.read() >= 0) {
            // until the other process closes it
        }
    }

    private void drive(Peer peer, int port, long warmUpMillis, long millis) throws Exception {
        PeerClient client = connect(peer, port);
        rate(client, warmUpMillis);
        print("rate " + rate(client, millis));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String command = commands.readLine();
        if (command != null && command.equals("loop")) {
            print("looping");
            print("failed " + exchangeUntilFailure(client));
        }
    }

    /** Connects and exchanges once, until it succeeds: a server may print that it is ready before it is. */
    private static PeerClient connect(Peer peer, int port) throws Exception {
        long deadline = System.nanoTime() + CONNECT_NANOS;
        while (true) {
            try {
                PeerClient client = peer.connect(port);
                client.exchange();
                return client;
            } catch (Exception e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                Thread.sleep(RETRY_MILLIS);
            }
        }
    }

    /** Exchanges for a time, and returns the operations in one second. */
    private static double rate(PeerClient client, long millis) throws Exception {
        long begin = System.nanoTime();
        long end = begin + millis * 1_000_000;
        long now = begin;
        int operations = 0;
        while (now - end < 0) {
            client.exchange();
            operations++;
            now = System.nanoTime();
        }
        return operations * 1e9 / Math.max(1, now - begin);
    }

    private static String exchangeUntilFailure(PeerClient client) {
        try {
            while (true) {
                client.exchange();
            }
        } catch (Exception e) {
            return e.toString().replace('\n', ' ');
        }
    }
}
