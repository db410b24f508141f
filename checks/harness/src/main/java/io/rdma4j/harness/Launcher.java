package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The launcher {@code rdma4j} of a checkout, or the one that {@code RDMA4J_LAUNCHER} names.
 *
 * @param home the checkout
 */
public record Launcher(Path home) {
    /** Returns the command. */
    public String command() {
        return System.getenv()
                .getOrDefault("RDMA4J_LAUNCHER", home.resolve("rdma4j").toString());
    }

    /** Returns the words of a tool or of another command of the launcher. */
    public List<String> words(List<String> arguments) {
        List<String> words = new ArrayList<>(List.of(command()));
        words.addAll(arguments);
        return words;
    }

    /** Runs a command of the launcher that builds something, with its output on that of this process. */
    public void prepare(String... arguments) throws IOException, InterruptedException {
        List<String> words = words(List.of(arguments));
        if (Command.show(words) != 0) {
            throw new IOException(String.join(" ", words) + " failed: nothing to test");
        }
    }

    /** Returns the JDK. */
    public Path javaHome() throws IOException, InterruptedException {
        return Path.of(Command.run(words(List.of("--java-home"))).strip());
    }

    /** Returns the path of the modules. */
    public String modulePath() throws IOException, InterruptedException {
        return Command.run(words(List.of("--module-path"))).strip();
    }
}
