package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code rdma4j man}: prints the manual page of a tool, in the form that man(1) reads. */
public final class Man implements Tool {
    private static final String HELP = """
        usage: rdma4j man [TOOL]
        Prints the manual page of a tool, or of rdma4j itself, in the form that man(1) reads.

        examples:
          rdma4j man rping | man -l -
          rdma4j man ib_write_lat >ib_write_lat.1
        """;

    private final Supplier<List<Tool>> tools;

    /**
     * Creates the tool.
     *
     * @param tools supplies all tools
     */
    public Man(Supplier<List<Tool>> tools) {
        this.tools = tools;
    }

    @Override
    public String name() {
        return "man";
    }

    @Override
    public String summary() {
        return "prints the manual page of a tool, for man(1)";
    }

    @Override
    public String help() {
        return HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (arguments.isEmpty()) {
            environment.out().print(ManualPage.ofCommand(tools.get()));
            return 0;
        }
        String name = arguments.getFirst();
        Optional<Tool> tool =
                tools.get().stream().filter(known -> known.name().equals(name)).findFirst();
        if (arguments.size() > 1 || tool.isEmpty()) {
            environment
                    .err()
                    .println("rdma4j man: there is no tool '" + String.join(" ", arguments) + "'; see rdma4j --help");
            return 2;
        }
        environment.out().print(ManualPage.of(tool.get()));
        return 0;
    }
}
