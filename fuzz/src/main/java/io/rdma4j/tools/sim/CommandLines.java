package io.rdma4j.tools.sim;

import java.io.PrintStream;
import java.util.List;

/** Lets the fuzz target of texts in: the command line of the simulator. */
public final class CommandLines {
    private CommandLines() {}

    /**
     * Reads a command line.
     *
     * @throws AssertionError if what was read makes no sense
     */
    public static void check(List<String> words, PrintStream messages) {
        SimOptions options = SimOptions.parse(words, messages);
        if (options != null && (options.runs() < 1 || options.jobs() < 1 || options.jobs() > 1024)) {
            throw new AssertionError("what is out of range is refused");
        }
    }
}
