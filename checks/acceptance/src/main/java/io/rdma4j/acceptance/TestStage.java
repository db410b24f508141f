package io.rdma4j.acceptance;

import io.rdma4j.acceptance.process.Child;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The environment of a running test: its scale, its folder, and the resources to close at its end. Used by the thread
 * of the test; {@link #progress} may be called by any thread.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class TestStage implements AutoCloseable {
    private static final String NOTES = "notes.txt";

    private final Scale scale;
    private final Duration limit;
    private final Path folder;
    private final Progress progress;
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    /** Displays the progress of a test. */
    public interface Progress {
        /** Shows a short text, or nothing if the text is null. */
        void show(@Nullable String text);
    }

    TestStage(Scale scale, Duration limit, Path folder, Progress progress) throws IOException {
        this.scale = scale;
        this.limit = limit;
        this.folder = Files.createDirectories(folder);
        Files.deleteIfExists(folder.resolve(NOTES));
        this.progress = progress;
    }

    /** Returns the scale of the run. */
    public Scale scale() {
        return scale;
    }

    /** Returns the time limit of the test. */
    public Duration limit() {
        return limit;
    }

    /**
     * Returns the folder for logs and captures, which is kept after the run. Standard error of each {@link Child} is in
     * {@code NAME.err}.
     */
    public Path folder() {
        return folder;
    }

    /** Shows the progress of the test. */
    public void progress(String text) {
        progress.show(text);
    }

    /** Appends a line to {@code notes.txt} in the folder, for details that the table does not show. */
    public void note(String line) throws IOException {
        Files.writeString(folder.resolve(NOTES), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Closes {@code resource} when the test has ended, also after a failure. Resources are closed in reverse order. */
    public <T extends AutoCloseable> T keep(T resource) {
        resources.push(resource);
        return resource;
    }

    /** Starts a program, with its output in the folder. It is killed after {@code most}, or when the test has ended. */
    public RunningProcess start(String label, List<String> words, Duration most) throws IOException {
        Stage programs = new Stage(folder, limit);
        keep(programs::endAll);
        return programs.start(label, List.of(), words, most);
    }

    @Override
    public void close() throws Exception {
        Exception first = null;
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
