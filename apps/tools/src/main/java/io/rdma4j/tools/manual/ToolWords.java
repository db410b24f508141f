package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.Tool;
import java.util.ArrayList;
import java.util.List;

/**
 * The words that may follow a tool on a command line.
 *
 * @param name the name of the tool
 * @param summary its purpose
 * @param options its own options and those of all tools
 * @param arguments the kind of its other arguments
 */
record ToolWords(String name, String summary, List<HelpOption> options, Values arguments) {
    /** The options that may precede the name of the tool. */
    static final List<HelpOption> COMMON = HelpText.commonOptions();

    /** Examples of the values of {@code --fault}. */
    static final List<String> FAULTS =
            List.of("loss=1%", "dup=1%", "reorder=1%", "corrupt=1%", "delay=1ms", "rate=10Gbit");

    /** The values of the argument of {@code completion}. */
    static final List<String> SHELLS = List.of("bash", "zsh", "fish");

    /** A kind of values that a shell can complete. */
    enum Values {
        NONE,
        FILES,
        HOSTS,
        DEVICES,
        CHOICES,
        TOOLS,
        SHELLS
    }

    /** Returns the values that the argument of an option may have, or an empty list if they are not listed. */
    static List<String> choices(HelpOption option) {
        return option.names().contains("--fault") ? FAULTS : option.choices();
    }

    /** Returns the words of a tool, according to its help text. */
    static ToolWords of(Tool tool) {
        List<HelpOption> options =
                new ArrayList<>(HelpText.parse(tool.name(), tool.help()).options());
        List<String> own =
                options.stream().flatMap(option -> option.names().stream()).toList();
        COMMON.stream()
                .filter(option ->
                        tool.hasCommonOptions() && !own.contains(option.names().getFirst()))
                .forEach(options::add);
        return new ToolWords(tool.name(), tool.summary(), List.copyOf(options), argumentsOf(tool.name()));
    }

    private static Values argumentsOf(String tool) {
        return switch (tool) {
            case "rcopy", "run", "exec" -> Values.FILES;
            case "man" -> Values.TOOLS;
            case "completion" -> Values.SHELLS;
            default -> tool.startsWith("ib_") || tool.endsWith("pingpong") ? Values.HOSTS : Values.NONE;
        };
    }

    /** Returns the kind of values of an option. */
    static Values values(HelpOption option) {
        String argument = option.argument();
        if (argument.isEmpty()) {
            return Values.NONE;
        }
        if (!choices(option).isEmpty()) {
            return Values.CHOICES;
        }
        return switch (argument) {
            case "FILE" -> Values.FILES;
            case "dev", "device", "NAME" -> Values.DEVICES;
            case "addr", "address", "server", "host" -> Values.HOSTS;
            default -> argument.endsWith("_address") && !argument.contains("multicast") ? Values.HOSTS : Values.NONE;
        };
    }
}
