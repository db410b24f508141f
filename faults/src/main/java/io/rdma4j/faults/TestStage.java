package io.rdma4j.faults;

import io.rdma4j.faults.process.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What a test plays on: its scale, its folder, and a place to leave what must be closed. Used by the thread of the test;
 * {@link #progress} by any.
 */
@SuppressWarnings("try") // closing waits for an end, which may be interrupted
public final class TestStage implements AutoCloseable {
    private static final String NOTES = "notes.txt";

    private final Scale scale;
    private final Path folder;
    private final Progress progress;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Whoever shows how far a test is. */
    public interface Progress {
        /** A few words, or null when there is nothing to say. */
        void show(@Nullable String words);
    }

    TestStage(Scale scale, Path folder, Progress progress) throws IOException {
        this.scale = scale;
        this.folder = Files.createDirectories(folder);
        Files.deleteIfExists(folder.resolve(NOTES));
        this.progress = progress;
    }

    /** How much to run. */
    public Scale scale() {
        return scale;
    }

    /** Where logs and captures go: errors of each {@link Child} are in {@code NAME.err}. Kept after the run. */
    public Path folder() {
        return folder;
    }

    /** Shows how far the test is. */
    public void progress(String words) {
        progress.show(words);
    }

    /** Adds a line to {@code notes.txt} in the folder: figures behind those of the table. */
    public void note(String line) throws IOException {
        Files.writeString(folder.resolve(NOTES), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Closes {@code resource} when the test has ended, last one first, also after a failure. */
    public <T extends AutoCloseable> T keep(T resource) {
        open.push(resource);
        return resource;
    }

    @Override
    public void close() throws Exception {
        Exception first = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
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
