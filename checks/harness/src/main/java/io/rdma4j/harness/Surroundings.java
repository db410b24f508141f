package io.rdma4j.harness;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The work around the cases of a run, such as captures and the care for a guest. By default there is none. */
public interface Surroundings {
    /** Ends what belongs to a case. Its processes on this host are ended after that. */
    default void end(Case ended, Stage stage) throws IOException, InterruptedException {}

    /**
     * Returns the reason why a case that has failed runs again, or null if the failure counts.
     *
     * @throws IOException if no case can run any more
     */
    default @Nullable String replaced(Case failed) throws IOException, InterruptedException {
        return null;
    }

    /** Adds files to the folder of a case that has failed, and returns lines about them for the table. */
    default List<String> report(Case failed, Stage stage) throws IOException, InterruptedException {
        return List.of();
    }

    /** Returns faults of the run as a whole. */
    default List<String> faults() {
        return List.of();
    }
}
