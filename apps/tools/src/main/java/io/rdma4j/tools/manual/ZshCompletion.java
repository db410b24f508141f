package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.Option;
import io.rdma4j.tools.manual.ToolWords.Values;
import java.util.List;

/** The completion of command lines for zsh. */
final class ZshCompletion {
    private static final String BEGIN = """
        #compdef rdma4j
        # Completion of rdma4j for zsh: rdma4j completion zsh >FOLDER/_rdma4j, with FOLDER in fpath.
        # For tools that are called by their own names: compdef _rdma4j rping rstream

        _rdma4j_devices() {
            local name
            compadd -- soft
            for name in /sys/class/net/*(N:t); do compadd -- rdma4j_$name; done
        }

        """;

    private ZshCompletion() {}

    /** Returns the script. */
    static String script(List<ToolWords> tools) {
        StringBuilder script = new StringBuilder(BEGIN);
        script.append("_rdma4j_tools() {\n    local -a tools\n    tools=(\n");
        tools.forEach(tool -> script.append("        ")
                .append(quoted(tool.name() + ":" + tool.summary()))
                .append('\n'));
        script.append("    )\n    _describe -t tools tool tools\n}\n\n_rdma4j() {\n");
        script.append("    local name=$service context state state_descr line\n    typeset -A opt_args\n");
        script.append("    if [[ $name == rdma4j ]]; then\n        _arguments -C");
        specs(ToolWords.COMMON, script);
        script.append(" \\\n            '--version[print the version]'");
        script.append(" \\\n            '1: :_rdma4j_tools' \\\n            '*:: :->tool' && return\n");
        script.append("        name=$words[1]\n    fi\n    case $name in\n");
        for (ToolWords tool : tools) {
            script.append("        ").append(tool.name()).append(")\n            _arguments");
            specs(tool.options(), script);
            if (tool.arguments() != Values.NONE) {
                script.append(" \\\n            ").append(quoted("*:argument:" + action(tool.arguments(), List.of())));
            }
            script.append("\n            ;;\n");
        }
        return script.append("    esac\n}\n\n_rdma4j \"$@\"\n").toString();
    }

    private static void specs(List<Option<?>> options, StringBuilder script) {
        for (Option<?> option : options) {
            for (String name : option.names()) {
                script.append(" \\\n            ").append(quoted(spec(name, option)));
            }
        }
    }

    private static String spec(String name, Option<?> option) {
        String description = "[" + escaped(option.summary()).replace("[", "\\[").replace("]", "\\]") + "]";
        if (option.argument().isEmpty()) {
            return name + description;
        }
        String argument =
                escaped(option.argument()) + ":" + action(ToolWords.values(option), ToolWords.choices(option));
        return name + (name.startsWith("--") ? "=" : "") + description + ":" + argument;
    }

    private static String action(Values values, List<String> choices) {
        return switch (values) {
            case NONE -> " ";
            case FILES -> "_files";
            case HOSTS -> "_hosts";
            case DEVICES -> "_rdma4j_devices";
            case CHOICES -> "(" + String.join(" ", choices) + ")";
            case TOOLS -> "_rdma4j_tools";
            case SHELLS -> "(" + String.join(" ", ToolWords.SHELLS) + ")";
        };
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace(":", "\\:");
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
