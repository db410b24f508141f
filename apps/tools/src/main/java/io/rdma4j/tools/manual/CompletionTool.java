package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;
import java.util.function.Supplier;

/** {@code rdma4j completion}: prints a script that completes command lines in a shell. */
public final class CompletionTool implements Tool {
    private static final String HELP = """
        usage: rdma4j completion bash|zsh|fish
        Prints a script that completes the command lines of rdma4j and its tools in a shell.

        examples:
          . <(rdma4j completion bash)                                          this shell: bash
          rdma4j completion zsh >~/.zfunc/_rdma4j                              zsh, with ~/.zfunc in fpath
          rdma4j completion fish >~/.config/fish/completions/rdma4j.fish       fish
        """;

    private final Supplier<List<Tool>> tools;

    /**
     * Creates the tool.
     *
     * @param tools supplies all tools
     */
    public CompletionTool(Supplier<List<Tool>> tools) {
        this.tools = tools;
    }

    @Override
    public String name() {
        return "completion";
    }

    @Override
    public String summary() {
        return "prints the completion of command lines for bash, zsh or fish";
    }

    @Override
    public String help() {
        return HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        List<ToolWords> words = tools.get().stream().map(ToolWords::of).toList();
        switch (arguments.size() == 1 ? arguments.getFirst() : "") {
            case "bash" -> environment.out().print(BashCompletion.script(words));
            case "zsh" -> environment.out().print(ZshCompletion.script(words));
            case "fish" -> environment.out().print(FishCompletion.script(words));
            default -> {
                environment.err().print(HELP);
                return 2;
            }
        }
        return 0;
    }
}
