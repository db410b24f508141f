package io.rdma4j.tools;

import java.util.List;

/** A command-line tool. */
public interface Tool {
    /** Name on the command line. */
    String name();

    /** What it does, in one line without a full stop. */
    String summary();

    /**
     * Runs the tool to its end.
     *
     * @param arguments without the name of the tool and without the options of every tool ({@link CommonOptions})
     * @param environment where it prints, and what ends it early
     * @return the exit status as C's {@code main} would return it: the shell sees it modulo 256
     */
    int run(List<String> arguments, ToolEnvironment environment);
}
