package io.rdma4j.soft.share;

import java.nio.file.Path;

/** What processes in network namespaces that are no more have left. */
final class Leftovers {
    private Leftovers() {}

    /** Removes the directories beside this process' own that no process uses; those that cannot be removed stay. */
    static void remove(Path own) {}
}
