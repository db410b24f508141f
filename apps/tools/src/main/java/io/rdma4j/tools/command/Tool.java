package io.rdma4j.tools.command;

import java.util.List;

/** A command-line tool. */
public interface Tool {
    /** Returns the tool's name on the command line. */
    String name();

    /** Returns the tool's purpose in one line without a full stop. */
    String summary();

    /** Returns the text that {@code --help} prints. */
    String help();

    /** Returns the tables of the tool's own options: one, or one for each mode of the tool. */
    default List<OptionTable<?>> options() {
        return List.of();
    }

    /**
     * Runs the tool until it ends.
     *
     * @param arguments the arguments without the tool's name and without the options of all tools
     *     ({@link CommonOptions})
     * @param environment the output streams and the interrupt handlers
     * @return the exit status that C's {@code main} would return; the shell sees it modulo 256
     */
    int run(List<String> arguments, ToolEnvironment environment);

    /** Returns whether the options of {@link CommonOptions} apply to the tool. */
    default boolean hasCommonOptions() {
        return true;
    }
}
