package io.rdma4j.soft;

import io.rdma4j.soft.process.SoftProvider;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Another Java process with the classes under test. Its output is read line by line. */
public final class ChildProcess implements AutoCloseable {
    private final Process process;
    private final Writer input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /** Starts it, with options of the Java virtual machine. */
    public ChildProcess(Class<?> main, List<String> options, String... arguments) throws IOException {
        this(List.of(), main, options, arguments);
    }

    /** Starts it with words before the command, such as those of {@code unshare}. */
    public ChildProcess(List<String> prefix, Class<?> main, List<String> options, String... arguments)
            throws IOException {
        this(prefix, main, true, options, arguments);
    }

    private ChildProcess(
            List<String> prefix, Class<?> main, boolean hasNativeAccess, List<String> options, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (hasNativeAccess) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add("-XX:+UseSerialGC");
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(options);
        command.add("-cp");
        command.add(classPath(main));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        input = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofVirtual().start(this::read);
    }

    /** Starts it without native access. */
    static ChildProcess withoutNativeAccess(Class<?> main, List<String> options, String... arguments)
            throws IOException {
        return new ChildProcess(List.of(), main, false, options, arguments);
    }

    /** Returns the class path of all rooms and of the tests, also when the tests run on the module path. */
    private static String classPath(Class<?> main) {
        Set<String> roots = new LinkedHashSet<>();
        for (Class<?> each : List.of(
                main,
                SoftProvider.class,
                io.rdma4j.wire.Frame.class,
                io.rdma4j.transport.RcQueuePair.class,
                io.rdma4j.link.Link.class,
                io.rdma4j.verbs.Device.class,
                io.rdma4j.cm.CmId.class,
                io.rdma4j.fixture.TestEndpoint.class)) {
            roots.add(root(each));
        }
        return String.join(File.pathSeparator, roots);
    }

    private static String root(Class<?> type) {
        String name = type.getName().replace('.', '/') + ".class";
        URL url = Objects.requireNonNull(type.getResource("/" + name), name);
        String text = url.toString();
        String base = text.substring(0, text.length() - name.length());
        if (base.startsWith("jar:")) {
            base = base.substring(4, base.length() - 2);
        }
        return Path.of(URI.create(base)).toString();
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("output ended: " + e.getMessage());
        }
        lines.add("END");
    }

    /** Writes a line to its input. */
    public void send(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    /** Closes its input. */
    void endInput() throws IOException {
        input.close();
    }

    /**
     * Returns the rest of the next line, which must begin with {@code word}; fails if another line comes, or none
     * within twenty seconds.
     */
    public String[] expect(String word) throws InterruptedException {
        String line = lines.poll(20, TimeUnit.SECONDS);
        if (line == null || !line.startsWith(word)) {
            throw new AssertionError("expected '" + word + "' but got '" + line + "', then " + lines);
        }
        return line.substring(word.length()).strip().split(" ", -1);
    }

    long pid() {
        return process.pid();
    }

    /** Kills it as {@code kill -9} does. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
