package io.rdma4j.tools.sim;

import java.io.PrintStream;
import java.util.List;

/** Gives the fuzz target of texts access to the command line of the simulator. */
public final class CommandLines {
    private CommandLines() {}

    /**
     * Parses a command line.
     *
     * @throws AssertionError if an accepted value is out of range
     */
    public static void check(List<String> arguments, PrintStream messages) {
        SimOptions options = SimOptions.parse(arguments, messages);
        if (options != null && (options.runs() < 1 || options.jobs() < 1 || options.jobs() > 1024)) {
            throw new AssertionError("a value out of range is refused");
        }
    }
}
