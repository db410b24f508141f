package io.rdma4j.tools.command;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.StringTokenizer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A tool in a separate process, on the same Java and the same modules as this process. Thread safe. */
public final class ToolProcess implements AutoCloseable {
    /** The main class of all tools, referenced by name because its package depends on this one. */
    private static final String MAIN_CLASS = "io.rdma4j.tools.Main";

    /** Names the ahead-of-time cache from which the launcher started this process, if any. */
    private static final String START_CACHE_PROPERTY = "rdma4j.start.cache";

    /**
     * Java options that the launcher gives to every tool. MaxInlineLevel and FreqInlineSize: decision 033;
     * TieredCompileTaskTimeout: decision 036.
     *
     * <p>The virtual machine's own output, such as the thread dump at SIGQUIT, goes to standard error, so that it does
     * not corrupt a JSON document.
     */
    public static final List<String> JAVA_OPTIONS = List.of(
            "-XX:+UseSerialGC",
            "-XX:MaxInlineLevel=30",
            "-XX:FreqInlineSize=70",
            "-XX:TieredCompileTaskTimeout=100000",
            "-XX:+DisplayVMOutputToStderr",
            "-Xlog:disable",
            "-Xlog:all=warning:stderr",
            "-Djava.net.preferIPv6Addresses=system");

    /** The environment variable of the launcher with more options for Java, separated by white space. */
    private static final String OPTIONS_VARIABLE = "RDMA4J_JAVA_OPTS";

    private final Process process;
    private final List<Thread> readers = new ArrayList<>();

    private ToolProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts a tool.
     *
     * @param words the name of the tool and its arguments
     * @param onOutput receives every line of its standard output, in a separate thread
     * @param onError receives every line of its standard error, in a separate thread
     */
    public static ToolProcess start(List<String> words, Consumer<String> onOutput, Consumer<String> onError) {
        return start(new ProcessBuilder(command(words)), onOutput, onError);
    }

    /**
     * Starts a tool that inherits the standard input of this process.
     *
     * @param words the name of the tool and its arguments
     * @param variables environment variables in addition to those of this process
     * @param onOutput receives every line of its standard output, in a separate thread
     * @param onError receives every line of its standard error, in a separate thread
     */
    public static ToolProcess startWithInput(
            List<String> words, Map<String, String> variables, Consumer<String> onOutput, Consumer<String> onError) {
        ProcessBuilder builder = new ProcessBuilder(command(words)).redirectInput(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(variables);
        return start(builder, onOutput, onError);
    }

    private static ToolProcess start(ProcessBuilder builder, Consumer<String> onOutput, Consumer<String> onError) {
        try {
            ToolProcess started = new ToolProcess(builder.start());
            started.process.getOutputStream().close();
            started.read("output", started.process.getInputStream(), onOutput);
            started.read("error", started.process.getErrorStream(), onError);
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + builder.command().getFirst(), e);
        }
    }

    /** Returns the command line of the process for a tool. */
    public static List<String> command(List<String> words) {
        List<String> command = new ArrayList<>(javaCommand());
        command.addAll(words);
        return command;
    }

    private static List<String> javaCommand() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JAVA_OPTIONS);
        String cache = System.getProperty(START_CACHE_PROPERTY, "");
        if (!cache.isEmpty()) {
            // Like its parent, the child does not report an unusable cache.
            command.addAll(List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off,cds*=off:stderr"));
        }
        new StringTokenizer(Objects.requireNonNullElse(System.getenv(OPTIONS_VARIABLE), ""))
                .asIterator()
                .forEachRemaining(option -> command.add((String) option));
        if (ToolProcess.class.getModule().isNamed()) {
            command.add("--enable-native-access=io.rdma4j.link,io.rdma4j.hardware,io.rdma4j.verbs,io.rdma4j.tools");
            String modulePath = System.getProperty("jdk.module.path", "");
            if (!modulePath.isEmpty()) { // otherwise the runtime contains the modules
                command.addAll(List.of("--module-path", modulePath));
            }
            command.addAll(List.of("--module", ToolProcess.class.getModule().getName() + "/" + MAIN_CLASS));
        } else {
            command.add("--enable-native-access=ALL-UNNAMED");
            command.addAll(List.of("--class-path", System.getProperty("java.class.path", "." + File.separator)));
            command.add(MAIN_CLASS);
        }
        return command;
    }

    private void read(String name, InputStream stream, Consumer<String> onLine) {
        readers.add(Thread.ofVirtual().name("tool-" + name).start(() -> {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    onLine.accept(line);
                }
            } catch (IOException closed) {
                onLine.accept("(output lost: " + closed.getMessage() + ")");
            }
        }));
    }

    /** Returns whether the process is running. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the process ID. */
    public long pid() {
        return process.pid();
    }

    /** Terminates the process, like SIGTERM. */
    public void terminate() {
        process.toHandle().destroy(); // Process.destroy would also close its output, which may have unread lines
    }

    /** Kills the process, like SIGKILL. */
    public void kill() {
        process.destroyForcibly();
    }

    /**
     * Waits for the end of the process and of its output.
     *
     * @param timeoutSeconds the maximum time to wait
     * @return its exit status, or -1 if it is still running
     * @throws InterruptedException if the thread is interrupted
     */
    public int await(long timeoutSeconds) throws InterruptedException {
        if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
            return -1;
        }
        for (Thread reader : readers) {
            reader.join(TimeUnit.SECONDS.toMillis(1));
        }
        return process.exitValue();
    }

    /** Kills the process if it is running. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
