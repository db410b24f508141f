package io.rdma4j.faults.process;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.Host;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process of a test, as the test sees it. It runs a {@link Role} in a Java virtual machine of its own, on a host or on
 * this one, and says lines {@code {"key": value}}. Closing it kills it. Used by the thread of the test.
 */
@SuppressWarnings("try") // closing waits for an end, which may be interrupted
public final class Child implements AutoCloseable {
    /** The question what it holds, and the key of the answer. */
    static final String HOLDINGS = "holdings";

    private static final String END = "";
    private static final Duration STEP = Duration.ofSeconds(20);

    private final String name;
    private final Process process;
    private final ObjectMapper json = new ObjectMapper();
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /** How a child is to be started. */
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

        /** Runs it on {@code host}. */
        public Builder on(Host host) {
            return behind(host.prefix().toArray(String[]::new));
        }

        /** Puts words before the command line, after those that are there: {@code prlimit --nofile=64}. */
        public Builder behind(String... words) {
            prefix.addAll(List.of(words));
            return this;
        }

        /** Adds options of the Java virtual machine: {@code -Xmx64m}. */
        public Builder options(String... more) {
            options.addAll(List.of(more));
            return this;
        }

        /** Lets it count native memory, and keep the threads of its compilers, for who compares {@link Child#holdings}. */
        public Builder countsHoldings() {
            return options("-XX:NativeMemoryTracking=summary", "-XX:-UseDynamicNumberOfCompilerThreads");
        }

        /** Tells the role something. */
        public Builder with(String parameter, Object value) {
            parameters.add(parameter + "=" + value);
            return this;
        }

        /** Starts it; the stage closes it when the test has ended. */
        public Child start() throws IOException {
            List<String> command = new ArrayList<>(prefix);
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(options);
            command.addAll(List.of("-cp", System.getProperty("java.class.path", ".")));
            command.add(Parent.class.getName());
            command.add(role.getName());
            command.addAll(parameters);
            Path errors = stage.folder().resolve(name + ".err");
            Process process =
                    new ProcessBuilder(command).redirectError(errors.toFile()).start();
            return stage.keep(new Child(name, process));
        }
    }

    private Child(String name, Process process) {
        this.name = name;
        this.process = process;
        Thread.ofVirtual().start(this::read);
    }

    /** A child that is called {@code name} in messages and files. */
    public static Builder builder(TestStage stage, String name, Class<? extends Role> role) {
        return new Builder(stage, name, role);
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException _) {
            // Its end says enough.
        }
        lines.add(END);
    }

    /** Gives it a line to {@link Parent#hear}. */
    public void tell(String line) throws IOException {
        try {
            Writer writer = process.outputWriter(StandardCharsets.UTF_8);
            writer.write(line + "\n");
            writer.flush();
        } catch (IOException e) {
            throw new IOException(name + " is gone", e);
        }
    }

    /** Gives it a line and waits for what it says under {@code key} then; see {@link #await}. */
    public JsonNode ask(String line, String key, Duration limit) throws IOException, InterruptedException {
        tell(line);
        return await(key, limit);
    }

    /**
     * The next value that it says under {@code key}; what it says under others meanwhile is passed over.
     *
     * @throws IOException if it fails, ends, or does not say it within {@code limit}
     */
    public JsonNode await(String key, Duration limit) throws IOException, InterruptedException {
        return poll(key, limit)
                .orElseThrow(() -> new IOException(name + " does not say \"" + key + "\" within " + limit));
    }

    /** The next value that it says under {@code key} within {@code limit}, if it does. */
    public Optional<JsonNode> poll(String key, Duration limit) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                return Optional.empty();
            }
            if (line.equals(END)) {
                lines.add(END);
                throw new IOException(name + " has ended early");
            }
            JsonNode said = json.readTree(line);
            JsonNode error = said.get("error");
            if (error != null) {
                throw new IOException(name + ": " + error.asText());
            }
            @Nullable JsonNode value = said.get(key);
            if (value != null) {
                return Optional.of(value);
            }
        }
    }

    /**
     * What it holds now, after garbage collections; it must be in {@link Parent#hear}.
     *
     * @throws IOException if it does not say within 20 s
     */
    public Holdings holdings() throws IOException, InterruptedException {
        return Holdings.of(json.convertValue(ask(HOLDINGS, HOLDINGS, STEP), new TypeReference<List<Long>>() {}));
    }

    /** Number of the process. */
    public long pid() {
        return process.pid();
    }

    /** Sends it a signal by name: {@code STOP}, {@code CONT}, {@code KILL}. */
    public void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start().waitFor();
    }

    /** Kills it (SIGKILL) and waits until it is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /**
     * Waits for it to end by itself.
     *
     * @return its status
     * @throws IOException if it does not within {@code limit}
     */
    public int awaitEnd(Duration limit) throws IOException, InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IOException(name + " does not end within " + limit);
        }
        return process.exitValue();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}
