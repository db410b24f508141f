package io.rdma4j.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A system program that is run until it exits. */
public final class Command {
    private static final int LIMIT_SECONDS = 20;

    private Command() {}

    /**
     * Runs a program.
     *
     * @return its output
     * @throws IOException if the program cannot be started, exceeds the time limit or fails; the message contains its
     *     output
     */
    public static String run(List<String> command) throws IOException, InterruptedException {
        return run(command, "");
    }

    /** Runs a program with its output on that of this process and the same input, and returns its status. */
    public static int show(List<String> command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    /** Runs a program with {@code input} as its standard input. */
    public static String run(List<String> command, String input) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var writer = process.outputWriter(StandardCharsets.UTF_8)) {
            writer.write(input);
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(String.join(" ", command) + ": not done in " + LIMIT_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.strip());
        }
        return output;
    }
}
