package io.rdma4j.faults.hosts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the system, run to its end. */
final class Command {
    private static final int LIMIT_SECONDS = 20;

    private Command() {}

    /**
     * Runs it.
     *
     * @return what it printed
     * @throws IOException if it cannot be started, takes too long, or ends with another status than 0; the message has
     *     what it said
     */
    static String run(List<String> words) throws IOException, InterruptedException {
        return run(words, "");
    }

    /** Runs it with {@code input} as its standard input. */
    static String run(List<String> words, String input) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        try (var writer = process.outputWriter(StandardCharsets.UTF_8)) {
            writer.write(input);
        }
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(String.join(" ", words) + ": not done in " + LIMIT_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
            throw new IOException(String.join(" ", words) + ": " + said.strip());
        }
        return said;
    }
}
