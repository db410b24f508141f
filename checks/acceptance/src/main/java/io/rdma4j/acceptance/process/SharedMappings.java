package io.rdma4j.acceptance.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The memory that a process shares with others of its host. */
public final class SharedMappings {
    private static final String NAME = "rdma4j-ring";

    private SharedMappings() {}

    /** Returns the address ranges of the mappings of a process. */
    public static List<String> of(long pid) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
            return lines.filter(line -> line.contains(NAME))
                    .map(line -> line.substring(0, line.indexOf(' ')))
                    .toList();
        }
    }

    /** Waits until a process has at most the given number of mappings. Returns the number that it has. */
    public static int await(Child child, int most, long limitMillis) throws IOException, InterruptedException {
        int count = of(child.pid()).size();
        for (long waited = 0; count > most && waited < limitMillis; waited += 20) {
            Thread.sleep(20);
            count = of(child.pid()).size();
        }
        return count;
    }
}
