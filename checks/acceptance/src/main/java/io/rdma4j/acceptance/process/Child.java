package io.rdma4j.acceptance.process;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.LineProcess;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A process of a test, as seen by the test. It runs a {@link Role} in a separate Java virtual machine and reports lines
 * {@code {"key": value}}. Closing it kills the process. Used by the thread of the test.
 */
public final class Child implements AutoCloseable {
    /** The command that requests the resource usage, and the key of the response. */
    static final String RESOURCE_USAGE = "resourceUsage";

    private static final Duration STEP = Duration.ofSeconds(20);

    private final String name;
    private final LineProcess process;
    private final ObjectMapper json = new ObjectMapper();

    /** A builder that starts a child. */
    public static final class Builder {
        private final TestStage stage;
        private final String name;
        private final Class<? extends Role> role;
        private final List<String> prefix = new ArrayList<>();
        private final List<String> options = new ArrayList<>(
                List.of("-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED"));
        private final List<String> parameters = new ArrayList<>();

        private Builder(TestStage stage, String name, Class<? extends Role> role) {
            this.stage = stage;
            this.name = name;
            this.role = role;
        }

        /** Runs the child on {@code host}. */
        public Builder on(Host host) {
            return withPrefix(host.prefix().toArray(String[]::new));
        }

        /** Appends words to the prefix of the command line, such as {@code prlimit --nofile=64}. */
        public Builder withPrefix(String... words) {
            prefix.addAll(List.of(words));
            return this;
        }

        /** Adds options of the Java virtual machine, such as {@code -Xmx64m}. */
        public Builder options(String... more) {
            options.addAll(List.of(more));
            return this;
        }

        /**
         * Tracks native memory and keeps the number of compiler threads constant, so that {@link Child#resourceUsage} can be
         * compared.
         */
        public Builder trackNativeMemory() {
            return options("-XX:NativeMemoryTracking=summary", "-XX:-UseDynamicNumberOfCompilerThreads");
        }

        /** Sets a parameter of the role. */
        public Builder with(String parameter, Object value) {
            parameters.add(parameter + "=" + value);
            return this;
        }

        /** Starts the child. The stage closes it when the test has ended. */
        public Child start() throws IOException {
            List<String> command = new ArrayList<>(prefix);
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(options);
            command.addAll(List.of("-cp", System.getProperty("java.class.path", ".")));
            command.add(Parent.class.getName());
            command.add(role.getName());
            command.addAll(parameters);
            Path errors = stage.folder().resolve(name + ".err");
            return stage.keep(new Child(
                    name, new LineProcess(name, command, Map.of(), ProcessBuilder.Redirect.to(errors.toFile()))));
        }
    }

    private Child(String name, LineProcess process) {
        this.name = name;
        this.process = process;
    }

    /** Returns a builder of a child that is called {@code name} in messages and files. */
    public static Builder builder(TestStage stage, String name, Class<? extends Role> role) {
        return new Builder(stage, name, role);
    }

    /** Sends a line, which the child receives by {@link Parent#nextCommand}. */
    public void sendLine(String line) throws IOException {
        process.sendLine(line);
    }

    /** Sends a line and returns the value that the child then reports under {@code key}; see {@link #await}. */
    public JsonNode ask(String line, String key, Duration limit) throws IOException, InterruptedException {
        sendLine(line);
        return await(key, limit);
    }

    /**
     * Returns the next value that the child reports under {@code key}. Values under other keys are discarded.
     *
     * @throws IOException if the child fails, exits, or does not report the value within {@code limit}
     */
    public JsonNode await(String key, Duration limit) throws IOException, InterruptedException {
        return poll(key, limit)
                .orElseThrow(() -> new IOException(name + " did not report \"" + key + "\" within " + limit));
    }

    /**
     * Returns the next value that the child reports under {@code key}, or an empty result after {@code limit}.
     *
     * @throws IOException if the child fails or exits
     */
    public Optional<JsonNode> poll(String key, Duration limit) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<String> line = process.pollLine(Duration.ofNanos(deadline - System.nanoTime()));
            if (line.isEmpty()) {
                return Optional.empty();
            }
            JsonNode report = json.readTree(line.get());
            JsonNode error = report.get("error");
            if (error != null) {
                throw new IOException(name + ": " + error.asText());
            }
            @Nullable JsonNode value = report.get(key);
            if (value != null) {
                return Optional.of(value);
            }
        }
    }

    /**
     * Returns the current resource usage after garbage collections. The child must be waiting in {@link
     * Parent#nextCommand}.
     *
     * @throws IOException if the child does not respond within 20 s
     */
    public ResourceUsage resourceUsage() throws IOException, InterruptedException {
        return ResourceUsage.of(
                json.convertValue(ask(RESOURCE_USAGE, RESOURCE_USAGE, STEP), new TypeReference<List<Long>>() {}));
    }

    /** Returns the process ID. */
    public long pid() {
        return process.pid();
    }

    /** Sends a signal by name: {@code STOP}, {@code CONT}, {@code KILL}. */
    public void signal(String signal) throws IOException, InterruptedException {
        RunningProcess.signal(pid(), signal);
    }

    /** Kills the process (SIGKILL) and waits until it has exited. */
    public void kill() throws InterruptedException {
        process.kill();
    }

    /**
     * Waits for the process to exit by itself.
     *
     * @return the exit status
     * @throws IOException if the process does not exit within {@code limit}
     */
    public int awaitEnd(Duration limit) throws IOException, InterruptedException {
        return process.awaitEnd(limit);
    }

    @Override
    public void close() {
        process.close();
    }
}
