package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Option;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The words that may follow a tool on a command line.
 *
 * @param name the name of the tool
 * @param summary its purpose
 * @param options its own options and those of all tools
 * @param arguments the kind of its other arguments
 */
record ToolWords(String name, String summary, List<Option<?>> options, Values arguments) {
    /** The options that may precede the name of the tool. */
    static final List<Option<?>> COMMON = List.copyOf(CommonOptions.options().documented());

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

    /** A line of a text that lists a value of the argument: {@code s|sockets - use standard sockets}. */
    private static final Pattern CHOICE_LINE = Pattern.compile("(?:\\w\\|)?(\\w+) - .*");

    /** A text that lists all values: {@code RC, UC or XRC (default RC)}. */
    private static final Pattern CHOICES = Pattern.compile("(\\w+(?:, \\w+)*),? or (\\w+)(?: \\(.*)?");

    /** Returns the values that the argument of an option may have, or an empty list if its text does not list them. */
    static List<String> choices(Option<?> option) {
        if (option.names().contains("--fault")) {
            return FAULTS;
        }
        List<String> named = option.description().stream()
                .map(CHOICE_LINE::matcher)
                .filter(Matcher::matches)
                .map(matcher -> matcher.group(1))
                .toList();
        if (!named.isEmpty()) {
            return named;
        }
        return option.description().stream()
                .map(CHOICES::matcher)
                .filter(Matcher::matches)
                .findFirst()
                .map(matcher -> Stream.concat(
                                Arrays.stream(matcher.group(1).split(", ", -1)), Stream.of(matcher.group(2)))
                        .toList())
                .orElse(List.of());
    }

    /** Returns the words of a tool. An option of several tables is described as in the first. */
    static ToolWords of(Tool tool) {
        Map<String, Option<?>> options = new LinkedHashMap<>();
        for (OptionTable<?> table : tool.options()) {
            table.documented()
                    .forEach(option -> options.putIfAbsent(option.names().getFirst(), option));
        }
        if (tool.hasCommonOptions()) {
            List<String> own = options.values().stream()
                    .flatMap(option -> option.names().stream())
                    .toList();
            COMMON.stream()
                    .filter(option -> !own.contains(option.names().getFirst()))
                    .forEach(option -> options.put(option.names().getFirst(), option));
        }
        return new ToolWords(tool.name(), tool.summary(), List.copyOf(options.values()), argumentsOf(tool.name()));
    }

    private static Values argumentsOf(String tool) {
        return switch (tool) {
            case "rcopy", "run", "exec" -> Values.FILES;
            case "man" -> Values.TOOLS;
            case "completion" -> Values.SHELLS;
            default -> tool.startsWith("ib_") || tool.endsWith("pingpong") ? Values.HOSTS : Values.NONE;
        };
    }

    /** Returns whether an option has the names of one that all tools have. */
    static boolean isCommon(Option<?> option) {
        return COMMON.stream().anyMatch(common -> common.names().equals(option.names()));
    }

    /** Returns the kind of values of an option. */
    static Values values(Option<?> option) {
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
