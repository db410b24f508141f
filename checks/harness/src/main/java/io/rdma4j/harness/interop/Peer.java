package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One side of a connection that is idle, or carries numbered messages in both directions: the program
 * {@code checks/interop/java/Peer.java}, whose lines start with the time in milliseconds and a word.
 *
 * @param process the process
 * @param side its side
 */
record Peer(RunningProcess process, Side side) {
    private static final int START_SECONDS = 20;

    /** A server and a client. */
    record Connection(Peer server, Peer client) {
        Peer of(Role role) {
            return role == Role.SERVER ? server : client;
        }

        /** Waits for both to end with 0. */
        void requireSuccess() throws CaseFailure, InterruptedException {
            client.process.requireSuccess();
            InteropStage.requireEnd(server.process, 5);
            server.process.requireSuccess();
        }
    }

    /** The roles of the two processes. */
    enum Role {
        /** It waits for the connection. */
        SERVER,
        /** It connects, and repeats that until there is a server. */
        CLIENT;

        Role other() {
            return this == SERVER ? CLIENT : SERVER;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Connects two processes. The first one owns the port of an address that both have. */
    static Connection connect(InteropStage stage, Family family, Role first, String... options)
            throws CaseFailure, IOException, InterruptedException {
        Peer server;
        Peer client;
        if (first == Role.SERVER) {
            server = serve(stage, family, options);
            server.await("LISTENING", START_SECONDS);
            client = call(stage, family, options);
        } else {
            client = call(stage, family, options);
            client.await("REFUSED", START_SECONDS);
            server = serve(stage, family, options);
        }
        client.await("CONNECTED", START_SECONDS);
        server.await("CONNECTED", START_SECONDS);
        return new Connection(server, client);
    }

    private static Peer serve(InteropStage stage, Family family, String... options)
            throws CaseFailure, IOException, InterruptedException {
        return start(stage, "server", stage.server, "serve", stage.address(stage.server, family), options);
    }

    private static Peer call(InteropStage stage, Family family, String... options)
            throws CaseFailure, IOException, InterruptedException {
        return start(stage, "client", stage.client, "connect", stage.serverAddress(family), options);
    }

    private static Peer start(
            InteropStage stage, String label, Side side, String action, String address, String... options)
            throws CaseFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(action, address, Integer.toString(Rping.PORT)));
        arguments.addAll(List.of(options));
        return new Peer(stage.startProgram(label, side, "Peer", arguments.toArray(String[]::new)), side);
    }

    /** Waits until the process has printed a line with a word, and returns the time of the first one. */
    long await(String word, int seconds) throws CaseFailure, IOException, InterruptedException {
        var _ = Stage.holdsWithin(
                Duration.ofSeconds(seconds), () -> process.hasEnded() || firstTime(word).isPresent());
        return firstTime(word)
                .orElseThrow(() ->
                        new CaseFailure("the " + process.label() + " did not print " + word + " within " + seconds + " s"));
    }

    private OptionalLong firstTime(String word) {
        return process.out()
                .lines()
                .map(line -> line.split(" ", -1))
                .filter(words -> words.length > 1 && words[1].equals(word))
                .mapToLong(words -> Long.parseLong(words[0]))
                .findFirst();
    }

    /** Returns the last value of a field, or an empty text. */
    String field(String name) {
        Stream<String> values = Pattern.compile(" " + name + "=([-A-Z_0-9]*)")
                .matcher(process.out())
                .results()
                .map(match -> match.group(1));
        return values.reduce("", (earlier, later) -> later);
    }

    /** Kills the process, and returns the time in milliseconds. */
    long kill() throws IOException, InterruptedException {
        long now = System.currentTimeMillis();
        process.signal("KILL");
        return now;
    }
}
