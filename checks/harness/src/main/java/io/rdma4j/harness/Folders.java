package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Folders of one run. */
public final class Folders {
    private Folders() {}

    /** Deletes a folder and what is in it, as far as possible: a process that was killed may still be writing. */
    public static void delete(@Nullable Path folder) {
        if (folder == null) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path each : deepestFirst) {
                Files.deleteIfExists(each);
            }
        } catch (IOException e) {
            System.err.println(folder + " cannot be deleted: " + e.getMessage());
        }
    }
}
