package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two connected processes of {@code Peer}, the program in checks/interop/java. The connection is idle, or carries numbered messages in
 * both directions. They print a line for each event, which begins with the time in milliseconds and a word.
 *
 * @param server the process that listens
 * @param client the process that connects
 */
record PeerPair(RunningProcess server, RunningProcess client) {
    private static final int LIMIT_SECONDS = 20;

    /** Connects the processes. The first one owns the port of an address that both have. */
    static PeerPair connect(InteropStage stage, Family family, End first, String... options)
            throws CaseFailure, IOException, InterruptedException {
        PeerPair pair;
        if (first == End.SERVER) {
            RunningProcess server = start(stage, End.SERVER, family, options);
            await(server, "LISTENING", LIMIT_SECONDS);
            pair = new PeerPair(server, start(stage, End.CLIENT, family, options));
        } else {
            RunningProcess client = start(stage, End.CLIENT, family, options);
            await(client, "REFUSED", LIMIT_SECONDS);
            pair = new PeerPair(start(stage, End.SERVER, family, options), client);
        }
        await(pair.client, "CONNECTED", LIMIT_SECONDS);
        await(pair.server, "CONNECTED", LIMIT_SECONDS);
        return pair;
    }

    private static RunningProcess start(InteropStage stage, End end, Family family, String... options)
            throws CaseFailure, IOException, InterruptedException {
        boolean isServer = end == End.SERVER;
        List<String> words = new ArrayList<>(List.of(
                isServer ? "serve" : "connect",
                isServer ? stage.address(stage.server, family) : stage.serverAddress(family),
                Integer.toString(Rping.PORT)));
        words.addAll(List.of(options));
        Side side = isServer ? stage.server : stage.client;
        return stage.startProgram(end.toString(), side, "Peer", words.toArray(String[]::new));
    }

    /** Returns one of the processes. */
    RunningProcess of(End end) {
        return end == End.SERVER ? server : client;
    }

    /** Waits until a process has printed a line with a word. */
    static void await(RunningProcess process, String word, int seconds)
            throws CaseFailure, IOException, InterruptedException {
        var _ = Stage.holdsWithin(
                Duration.ofSeconds(seconds),
                () -> process.hasEnded() || firstTime(process, word).isPresent());
        var _ = time(process, word);
    }

    /** Returns the time of the first line with a word, in milliseconds. */
    static long time(RunningProcess process, String word) throws CaseFailure {
        return firstTime(process, word)
                .orElseThrow(() -> new CaseFailure("the " + process.label() + " did not print " + word));
    }

    private static OptionalLong firstTime(RunningProcess process, String word) {
        return process.out()
                .lines()
                .map(line -> line.split(" ", -1))
                .filter(words -> words.length > 1 && words[1].equals(word))
                .mapToLong(words -> Long.parseLong(words[0]))
                .findFirst();
    }

    /** Returns the last value of a field. */
    static String field(RunningProcess process, String name) throws CaseFailure {
        Matcher matcher = Pattern.compile(" " + name + "=([-A-Z_0-9]*)").matcher(process.out());
        String value = null;
        while (matcher.find()) {
            value = matcher.group(1);
        }
        if (value == null) {
            throw new CaseFailure("the " + process.label() + " did not print " + name);
        }
        return value;
    }
}
