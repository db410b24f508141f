package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.Option;
import io.rdma4j.tools.manual.ToolWords.Values;
import java.util.List;

/** The completion of command lines for fish. */
final class FishCompletion {
    private static final String BEGIN = """
        # Completion of rdma4j for fish: rdma4j completion fish >~/.config/fish/completions/rdma4j.fish

        function __rdma4j_devices
            echo soft
            for name in /sys/class/net/*
                echo rdma4j_(string replace -r '.*/' '' -- $name)
            end
        end

        complete -c rdma4j -f
        complete -c rdma4j -n __fish_use_subcommand -l version -d 'print the version'
        """;

    private FishCompletion() {}

    /** Returns the script. */
    static String script(List<ToolWords> tools) {
        StringBuilder script = new StringBuilder(BEGIN);
        ToolWords.COMMON.forEach(option -> option(" -n __fish_use_subcommand", option, script));
        List<String> names = tools.stream().map(ToolWords::name).toList();
        for (ToolWords tool : tools) {
            script.append("\ncomplete -c rdma4j -n __fish_use_subcommand -a ")
                    .append(tool.name())
                    .append(" -d ")
                    .append(quoted(tool.summary()))
                    .append('\n');
            String condition = " -n '__fish_seen_subcommand_from " + tool.name() + "'";
            tool.options().forEach(option -> option(condition, option, script));
            if (tool.arguments() != Values.NONE) {
                script.append("complete -c rdma4j")
                        .append(condition)
                        .append(values(tool.arguments(), names))
                        .append('\n');
            }
        }
        return script.toString();
    }

    private static void option(String condition, Option<?> option, StringBuilder script) {
        script.append("complete -c rdma4j").append(condition);
        for (String name : option.names()) {
            script.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
        }
        if (!option.argument().isEmpty()) {
            script.append(" -r").append(values(ToolWords.values(option), ToolWords.choices(option)));
        }
        if (!option.description().isEmpty()) {
            script.append(" -d ").append(quoted(option.summary()));
        }
        script.append('\n');
    }

    private static String values(Values values, List<String> choices) {
        return switch (values) {
            case NONE -> " -f";
            case FILES -> " -F";
            case HOSTS -> " -f -a '(__fish_print_hostnames)'";
            case DEVICES -> " -f -a '(__rdma4j_devices)'";
            case CHOICES, TOOLS -> " -f -a " + quoted(String.join(" ", choices));
            case SHELLS -> " -f -a " + quoted(String.join(" ", ToolWords.SHELLS));
        };
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
